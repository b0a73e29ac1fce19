// The views of tasks that write: how to search, the answers with their scores, the tokens of one, its attention.
import { Looking } from "./looking.js";
import { el, seen } from "./picture.js";
import { onLanguage, say, word } from "./words.js";

const SHOWN = 5; // answers that a beam gives at first
const FIELDS = {
  best: ["beam", "nbest"],
  greedy: [],
  draw: ["temperature", "top_p", "seed", "nbest"],
};
const BOUNDS = {
  beam: { min: 1, max: 32, step: 1 }, nbest: { min: 1, max: 32, step: 1 }, seed: { min: 0, max: 2 ** 31 - 1, step: 1 },
  temperature: { min: 0.05, max: 10, step: 0.05 }, top_p: { min: 0.05, max: 1, step: 0.05 },
};
const PHRASES = ["prefix", "require", "forbid"];

const listed = (text) => text.split(/[,，]/).map((phrase) => phrase.trim()).filter(Boolean);

export class TranslateView {
  text(given) {
    return given;
  }

  // What stands before an answer.
  lead() {
    return "";
  }

  constructor(model, options, shown, look, picture) {
    Object.assign(this, { model, shown });
    const { defaults } = model;
    const beam = Math.max(defaults.beam, 1);
    this.values = {
      beam: beam > 1 ? beam : 5, nbest: Math.min(SHOWN, beam > 1 ? beam : 5),
      temperature: defaults.temperature || 1, top_p: defaults.top_p, seed: defaults.seed,
    };
    this.mode = defaults.temperature ? "draw" : beam > 1 ? "best" : "greedy";
    this.numbers = el("div", { class: "row numbers" });
    const modes = el("div", { class: "segments" }, ...Object.keys(FIELDS).map((mode) => this.radio(mode)));
    const phrases = PHRASES.map((name) => this.phrase(name));
    options.append(
      el("fieldset", {}, el("legend", { class: "over", "data-word": "search" }, say("search")), modes, (this.told = el("p", { class: "soft" })), this.numbers),
      el("details", {}, el("summary", { "data-word": "more" }, say("more")), el("div", { class: "phrases" }, ...phrases)),
    );
    this.looking = new Looking(look, picture);
    onLanguage(() => this.modeChanged());
  }

  radio(mode) {
    const input = el("input", { type: "radio", name: "mode", value: mode, checked: mode === this.mode });
    input.addEventListener("change", () => { this.mode = mode; this.modeChanged(); });
    return el("label", {}, input, word(mode));
  }

  phrase(name) {
    const value = this.model.defaults[name];
    const input = el("input", { name, dir: "auto", value: Array.isArray(value) ? value.join(", ") : value, spellcheck: "false" });
    this[name] = input;
    return el("label", {}, word(name), input, name === "prefix" ? null : el("small", { "data-word": "several" }, say("several")));
  }

  modeChanged() {
    this.told.textContent = say({ best: "aboutBest", greedy: "aboutGreedy", draw: "aboutDraw" }[this.mode]);
    this.numbers.replaceChildren(...FIELDS[this.mode].map((name) => {
      const input = el("input", { type: "number", inputmode: "decimal", name, value: this.values[name], ...BOUNDS[name] });
      input.addEventListener("input", () => { this.values[name] = input.valueAsNumber; });
      return el("label", {}, word(name), input);
    }));
  }

  options() {
    const chosen = Object.fromEntries(FIELDS[this.mode].map((name) => [name, this.values[name]]));
    const own = { beam: 1, nbest: 1, groups: 1, temperature: 0, top_k: 0, top_p: 1, min_p: 0, ...chosen };
    return { ...own, prefix: this.prefix.value, require: listed(this.require.value), forbid: listed(this.forbid.value) };
  }

  begin(asked) {
    this.asked = asked;
    this.looking.hide();
    this.written = el("p", { class: "best writing", dir: "auto" }, el("span", { class: "lead" }, this.lead()));
    this.shown.replaceChildren(this.written);
  }

  piece({ text }) {
    this.written.append(text);
  }

  answer(answers) {
    this.answers = answers;
    this.tokens = el("ol", { class: "tokens" });
    const list = answers.length > 1 ? [this.list(answers)] : [];
    this.best = el("p", { class: "best", dir: "auto", tabindex: "-1" });
    const pieces = el("h3", { class: "over", "data-word": "pieces" }, say("pieces"));
    this.shown.replaceChildren(this.best, ...list, ...(answers[0].tokens.length ? [pieces, this.tokens] : []));
    this.choose(0);
    const [first] = answers;
    return [say("tokens", { count: first.tokens.length }), ...(first.finished ? [] : [say("cut")])];
  }

  list(answers) {
    const least = Math.min(...answers.map(({ score }) => score ?? 0));
    const most = Math.max(...answers.map(({ score }) => score ?? 0));
    const rows = answers.map((answer, number) => {
      const input = el("input", { type: "radio", name: "answer", checked: number === 0 });
      input.addEventListener("change", () => this.choose(number));
      const bar = el("i", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--w", most > least ? 0.04 + (0.96 * ((answer.score ?? least) - least)) / (most - least) : 1);
      const score = el("span", { class: "number", title: say("score") }, answer.score === null ? "–" : answer.score.toFixed(2));
      return el("li", {}, el("label", {}, input, el("span", { class: "said", dir: "auto" }, answer.text || say("empty")), bar, score));
    });
    const title = this.asked.options.temperature ? "drawn" : "answers";
    return el("fieldset", { class: "list" }, el("legend", { class: "over", "data-word": title }, say(title)), el("ol", {}, ...rows));
  }

  choose(number) {
    const answer = this.answers[number];
    const lead = el("span", { class: "lead" }, this.lead());
    this.best.replaceChildren(lead, answer.text || (this.lead() ? "" : say("empty")));
    this.tokens.replaceChildren(...answer.tokens.map((token, i) => {
      const p = Math.exp(answer.token_logps[i] ?? 0);
      const chip = el("li", { title: `${say("probability")} ${p.toFixed(3)}` }, el("b", { dir: "auto" }, seen(token)), el("small", {}, p.toFixed(2)));
      chip.style.setProperty("--w", p);
      chip.addEventListener("mouseenter", () => this.looking.picture.point(i));
      chip.addEventListener("mouseleave", () => this.looking.picture.point(null));
      return chip;
    }));
    const { model, text } = this.asked;
    if (answer.tokens.length) this.looking.draw({ model, text, target: answer.text });
  }
}

export class CompleteView extends TranslateView {
  lead() {
    return this.asked.text;
  }
}
