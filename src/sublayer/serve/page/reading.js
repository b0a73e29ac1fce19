// The views of tasks that read: classes as bars, tags in colour.
import { Looking } from "./looking.js";
import { el } from "./picture.js";
import { say, word } from "./words.js";

const SHOWN = 12; // classes that are listed; the others are counted
const COLOURS = 8; // of kinds, over and over

class ReadingView {
  constructor(model, options, shown, look, picture) {
    Object.assign(this, { model, shown });
    this.looking = new Looking(look, picture);
    if (model.texts === 2) options.append(el("p", { class: "soft", "data-word": "pair" }, say("pair")));
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
    const rows = scores.slice(0, SHOWN).map(({ label, probability }) => {
      const bar = el("i", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--w", probability);
      const name = el(labels.includes(label) ? "b" : "span", { class: "said", dir: "auto" }, label);
      return el("li", {}, name, bar, el("span", { class: "number" }, probability.toFixed(3)));
    });
    const title = el("h3", { class: "over", "data-word": "classes" }, say("classes"));
    this.shown.replaceChildren(best, ...(rows.length ? [title, el("ol", { class: "list bars" }, ...rows)] : []));
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
