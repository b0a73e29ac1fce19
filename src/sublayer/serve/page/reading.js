// The views of tasks that read: classes as bars, tags in colour, answers marked, blanks filled, texts compared.
import { predict } from "./api.js";
import { Looking } from "./looking.js";
import { el, seen } from "./picture.js";
import { say, word } from "./words.js";

const SHOWN = 12; // classes that are listed; the others are counted
const COLOURS = 8; // of kinds, over and over

class ReadingView {
  constructor(model, options, shown, look, picture) {
    Object.assign(this, { model, shown });
    this.looking = new Looking(look, picture);
    const hint = this.hint();
    if (hint) options.append(el("p", { class: "soft", "data-word": hint }, say(hint)));
  }

  // How a text is to be written, where it is no plain one.
  hint() {
    return this.model.texts === 2 ? "pair" : null;
  }

  // Of a pair each may stand on a line of its own: a tab cannot be typed here.
  text(given) {
    return this.model.texts === 2 && !given.includes("\t") ? given.replace("\n", "\t") : given;
  }

  options() {
    return {};
  }

  begin(asked) {
    this.asked = asked;
    this.looking.hide();
    this.shown.replaceChildren();
  }

  piece() {}

  answer(answer) {
    const { model, text } = this.asked;
    const said = this.show(answer);
    if (text.trim()) this.looking.draw({ model, text });
    return said;
  }
}

export class ClassifyView extends ReadingView {
  show({ labels, scores }) {
    const best = el("p", { class: "best", dir: "auto" }, labels.join(", ") || say("empty"));
    const rows = scores.slice(0, SHOWN).map(({ label, probability }) => [label, probability]);
    const title = el("h3", { class: "over", "data-word": "classes" }, say("classes"));
    this.shown.replaceChildren(best, ...(rows.length ? [title, bars(rows, (label) => labels.includes(label))] : []));
    const more = scores.length - rows.length;
    return more > 0 ? [say("others", { count: more })] : [];
  }
}

export class TagView extends ReadingView {
  show({ words, tags, scores, spans }) {
    const kinds = this.model.bio ? [...new Set(this.model.tags.filter((tag) => tag !== "O").map((tag) => tag.slice(2)))] : this.model.tags;
    const parts = this.model.bio ? marked(words.length, spans) : words.map((_, i) => ({ kind: tags[i], start: i, end: i + 1 }));
    const chips = parts.map(({ kind, start, end }) => {
      const each = words.slice(start, end).map((word, i) => el("span", { title: `${tags[start + i]} ${scores[start + i].toFixed(3)}` }, word));
      const text = each.flatMap((word, i) => (i ? [" ", word] : [word]));
      if (!kind) return el("span", { class: "plain" }, ...text);
      const colour = `kind k${kinds.indexOf(kind) % COLOURS}`;
      return el("span", { class: colour }, ...text, " ", el("small", {}, kind));
    });
    const sentence = el("p", { class: "tagged", dir: "auto" }, ...chips.flatMap((chip, i) => (i ? [" ", chip] : [chip])));
    const rows = words.map((text, i) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, text), el("td", {}, tags[i]), el("td", { class: "number" }, scores[i].toFixed(3))));
    const head = el("tr", {}, ...["token", "tag", "probability"].map((name) => el("th", { scope: "col" }, word(name))));
    const table = el("table", { class: "each" }, el("thead", {}, head), el("tbody", {}, ...rows));
    const details = el("details", {}, el("summary", { "data-word": "each" }, say("each")), table);
    this.shown.replaceChildren(...(words.length ? [sentence, details] : [el("p", { class: "best" }, say("empty"))]));
    return this.model.bio ? [say("spans", { count: spans.length })] : [];
  }
}

export class AnswerView extends ReadingView {
  hint() {
    return "question";
  }

  options() {
    return { n: 5 };
  }

  show(answers) {
    const context = [...this.asked.text.split("\t").slice(1).join("\t")]; // characters, as the server counts them
    const marks = el("p", { class: "tagged", dir: "auto" });
    const mark = ({ text, start, end }) => marks.replaceChildren(...(text
      ? [context.slice(0, start).join(""), el("mark", { class: "kind" }, context.slice(start, end).join("")), context.slice(end).join("")]
      : [context.join("")]));
    const rows = answers.map((answer, number) => {
      const input = el("input", { type: "radio", name: "answer", checked: number === 0 });
      input.addEventListener("change", () => mark(answer));
      const bar = el("i", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--w", 1 / (1 + Math.exp(-answer.score)));
      const score = el("span", { class: "number", title: say("score") }, answer.score.toFixed(2));
      return el("li", {}, el("label", {}, input, el("span", { class: "said", dir: "auto" }, answer.text || say("none")), bar, score));
    });
    mark(answers[0]);
    const legend = el("legend", { class: "over", "data-word": "answers" }, say("answers"));
    this.shown.replaceChildren(marks, el("fieldset", { class: "list" }, legend, el("ol", {}, ...rows)));
    return [];
  }
}

export class FillView extends ReadingView {
  hint() {
    return "blank";
  }

  show({ text, blanks }) {
    const lists = blanks.map((guesses, n) => el("div", {}, el("h3", { class: "over" }, `${this.model.blank} ${n + 1}`), bars(guesses.map(({ token, probability }) => [seen(token), probability]))));
    this.shown.replaceChildren(el("p", { class: "best", dir: "auto" }, text || say("empty")), ...lists);
    return [];
  }
}

// Each line is a text; how alike they are is the cosine of their vectors.
export class EmbedView extends ReadingView {
  hint() {
    return "compare";
  }

  events = async function* (asked, signal) {
    const texts = asked.text.split("\n").filter((line) => line.trim());
    if (texts.length) yield ["answer", { answer: await predict({ ...asked, text: undefined, texts }, signal) }];
    else yield ["answer", { answer: [] }];
  };

  answer(answers) {
    const texts = this.asked.text.split("\n").filter((line) => line.trim());
    const vectors = answers.map(({ vector }) => vector);
    const alike = vectors.map((vector) => cosine(vectors[0], vector));
    const order = alike.map((_, i) => i).slice(1).sort((a, b) => alike[b] - alike[a]);
    const title = el("h3", { class: "over", "data-word": "nearest" }, say("nearest"));
    const best = el("p", { class: "best", dir: "auto" }, texts[0] ?? say("empty"));
    this.shown.replaceChildren(best, ...(order.length ? [title, bars(order.map((i) => [texts[i], alike[i]]))] : []));
    if (texts.length) this.looking.draw({ model: this.asked.model, text: texts[0] });
    return vectors.length ? [say("numbers", { count: vectors[0].length })] : [];
  }
}

function cosine(a, b) {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
}

// Names with a number from 0 to 1 each.
function bars(rows, strong = () => false) {
  return el("ol", { class: "list bars" }, ...rows.map(([name, value]) => {
    const bar = el("i", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--w", Math.max(0, value));
    return el("li", {}, el(strong(name) ? "b" : "span", { class: "said", dir: "auto" }, name), bar, el("span", { class: "number" }, value.toFixed(3)));
  }));
}

// All words in order: those of a span together, each of the others by itself.
function marked(count, spans) {
  const parts = [];
  let at = 0;
  for (const span of [...spans, { start: count, end: count }]) {
    for (; at < span.start; at += 1) parts.push({ kind: null, start: at, end: at + 1 });
    if (span.end > span.start) parts.push(span);
    at = Math.max(at, span.end);
  }
  return parts;
}
