// Attention weights to look at: as lines between two rows of tokens, as shades in the text itself, or as a grid.
const SVG = "http://www.w3.org/2000/svg";
const KINDS = ["cross", "alignment", "encoder", "decoder"];
const HEIGHT = 190, TOP = 26, BOTTOM = 164, GAP = 10;
const MANY = 40; // tokens of a side, above which lines would be a thicket and the text is shaded at first
const PRINTED = 12; // with so many rows and columns, or fewer, the numbers stand in the cells
const CELLS = 60; // with more, the grid is painted
const FAINT = 0.02; // lines of less weight are not drawn
const STRONG = 0.7; // above it a cell is so deep that only light text reads well on it
const SAID = 4;

const WORDS = {
  en: {
    looking: "Which attention", layer: "Layer", head: "Head", mean: "mean of heads", view: "View",
    lines: "Lines", text: "Text", grid: "Grid", encoder: "Text on text", decoder: "Answer on answer", cross: "Answer on text",
    alignment: "Words", linesLabel: "Lines between what is looked at, above, and what looks, below",
    gridLabel: "Each row: what this token looks at", textLabel: "The deeper the shade, the more is looked at",
    above: "What is looked at", below: "What looks",
    pick: "Point at a token, or reach it with the arrow keys, to see its lines alone.",
    pickText: "Shades: how much each is looked at on the whole. Point at a token, or reach it with the arrow keys, for its own.",
    pickGrid: "Point at a cell, or reach it with the arrow keys, to read its weight.",
    looksAt: "{token} looks at {others}", seenBy: "{token} is looked at by {others}", nobody: "nothing", scale: "weight 0 to {top}",
  },
  zh: {
    looking: "哪一种注意力", layer: "层", head: "头", mean: "各头平均", view: "视图",
    lines: "连线", text: "原文", grid: "网格", encoder: "文本看文本", decoder: "答案看答案", cross: "答案看文本",
    alignment: "词对齐", linesLabel: "上行是被看的，下行是在看的，之间以线相连",
    gridLabel: "每一行：这个 token 在看什么", textLabel: "颜色越深，被看得越多",
    above: "被看的", below: "在看的",
    pick: "指向一个 token，或用方向键移到它，只显示它的连线。",
    pickText: "深浅表示总体上被看的多少。指向一个 token，或用方向键移到它，只看它的。",
    pickGrid: "指向一格，或用方向键移到它，读出它的权重。",
    looksAt: "{token} 在看 {others}", seenBy: "看 {token} 的有 {others}", nobody: "（无）", scale: "权重 0 到 {top}",
  },
};

export const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// Elements without markup: text is text, whatever it holds.
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// What a token is shown as: white space would not be seen.
export const seen = (token) => (token.trim() ? token : token.includes("\n") ? "⏎" : "␣");

export class Picture {
  constructor(place, language = "en") {
    this.place = place;
    this.language = language;
  }

  say(word, values = {}) {
    return (WORDS[this.language][word] ?? word).replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  speak(language) {
    this.language = language;
    if (this.drawn) this.show(this.drawn);
  }

  tell(text) {
    this.drawn = null;
    this.place.replaceChildren(el("p", { class: "soft" }, text));
  }

  show(drawn) {
    this.drawn = drawn;
    const names = Object.keys(drawn.kinds);
    const kinds = [...KINDS.filter((kind) => names.includes(kind)), ...names.filter((kind) => !KINDS.includes(kind))];
    if (!kinds.includes(this.kind)) [this.kind, this.layer, this.head] = [kinds[0], null, 0];
    this.controls = el("div", { class: "row controls" });
    this.stage = el("div", { class: "scroll", tabindex: "0", role: "region" });
    this.told = el("output", { class: "told" });
    this.place.replaceChildren(this.controls, this.stage, this.told);
    this.choices(kinds);
    this.draw();
  }

  choices(kinds) {
    const { rows, columns, weights } = this.drawn.kinds[this.kind];
    this.layer = Math.min(this.layer ?? Math.max(weights.length - 2, 0), weights.length - 1);
    this.head = Math.min(this.head, weights[0].length - 1);
    this.view = this.wanted ?? (Math.max(rows.length, columns.length) > MANY ? "text" : "lines");
    const heads = weights[0].length > 2 ? weights[0].map((_, i) => [i, i ? String(i) : this.say("mean")]) : [[0, ""]];
    const offered = [
      ["kind", "looking", kinds.map((kind) => [kind, this.say(kind)])],
      ["layer", "layer", weights.map((_, i) => [i, String(i + 1)])],
      ["head", "head", heads],
      ["view", "view", ["lines", "text", "grid"].map((view) => [view, this.say(view)])],
    ].filter(([, , values]) => values.length > 1);
    this.controls.replaceChildren(...offered.map(([name, label, values]) => {
      const options = values.map(([value, text]) => el("option", { value, selected: value === this[name] }, text));
      const select = el("select", { name, autocomplete: "off" }, ...options);
      select.addEventListener("change", () => this.chosen(name, select.value, kinds));
      return el("label", {}, el("span", {}, this.say(label)), select);
    }));
  }

  chosen(name, value, kinds) {
    this[name] = name === "kind" || name === "view" ? value : Number(value);
    if (name === "view") this.wanted = value;
    if (name === "kind") {
      this.layer = null;
      this.choices(kinds);
      this.controls.querySelector("[name=kind]").focus();
    }
    this.draw();
  }

  draw() {
    const { rows, columns, weights } = this.drawn.kinds[this.kind];
    const [below, above] = [rows.map(seen), columns.map(seen)];
    const table = weights[this.layer][this.head];
    const most = Math.max(rows.length, columns.length);
    this.paths = [];
    this.shades = null;
    this.told.classList.toggle("afloat", this.view === "text" ? most > MANY : this.view === "grid" && most > PRINTED);
    this.stage.setAttribute("aria-label", this.say(`${this.view}Label`));
    if (this.view === "lines") this.lines(below, above, table);
    else if (this.view === "text") this.text(below, above, table);
    else if (most > CELLS) this.painted(below, above, table);
    else this.grid(below, above, table);
    this.rest();
  }

  // What is said while nothing is pointed at.
  rest() {
    this.told.textContent = this.say({ lines: "pick", text: "pickText", grid: "pickGrid" }[this.view]);
  }

  // What a token looks at, or who looks at it, in words.
  said(side, token, weights, others) {
    const looked = weights.map((weight, i) => [weight, others[i]]).filter(([weight]) => weight >= FAINT).sort((a, b) => b[0] - a[0]);
    const list = looked.slice(0, SAID).map(([weight, other]) => `${other} ${weight.toFixed(2)}`).join(", ") || this.say("nobody");
    return this.say(side === "below" ? "looksAt" : "seenBy", { token, others: list });
  }

  // -- lines: above what is looked at, below what looks ------------------------------------------------------

  lines(rows, columns, table) {
    const links = svg("g", { class: "links" });
    const above = columns.map((token, s) => this.token(token, TOP, "above", s, table.map((row) => row[s]), rows));
    const below = rows.map((token, t) => this.token(token, BOTTOM, "below", t, table[t], columns));
    const figure = svg("svg", { class: "lines", height: HEIGHT, role: "group", "aria-label": this.say("linesLabel") }, links, ...above, ...below);
    this.stage.replaceChildren(figure);
    const places = [above, below].map(place);
    const width = Math.max(...places.map(({ width }) => width));
    figure.setAttribute("width", width);
    [above, below].forEach((tokens, i) => tokens.forEach((token, n) => {
      places[i].centres[n] += (width - places[i].width) * (tokens.length > 1 ? n / (tokens.length - 1) : 0.5);
      token.setAttribute("transform", `translate(${places[i].centres[n]} 0)`);
    }));
    this.paths = table.flatMap((row, t) => row.map((weight, s) => {
      if (weight < FAINT) return null;
      const [x, y] = [places[0].centres[s], places[1].centres[t]];
      const middle = (TOP + BOTTOM) / 2;
      const path = svg("path", { d: `M${x} ${TOP + 10}C${x} ${middle} ${y} ${middle} ${y} ${BOTTOM - 20}`, "stroke-width": 0.6 + 3.4 * weight });
      path.style.setProperty("--w", weight);
      return Object.assign(path, { s, t });
    })).filter(Boolean);
    links.append(...this.paths);
    walk([...above, ...below], (key, i) => ({
      ArrowLeft: i - 1, ArrowRight: i + 1, ArrowUp: i - columns.length, ArrowDown: i + columns.length,
    })[key]);
  }

  token(token, y, side, number, weights, others) {
    const said = this.said(side, token, weights, others);
    const text = svg("text", { y, "text-anchor": "middle", direction: "ltr" }, token);
    const group = svg("g", { class: "token", tabindex: "-1", role: "img", "aria-label": said }, svg("rect", { y: y - 20, height: 28, rx: 6 }), text);
    const on = () => { this.alone(side, number); this.told.textContent = said; };
    watch(group, on, () => { this.alone(null); this.rest(); });
    return group;
  }

  alone(side, number) {
    const mine = (path) => side === null || (side === "below" ? path.t : path.s) === number;
    for (const path of this.paths) path.classList.toggle("away", !mine(path));
  }

  // Shows what one token of the answer looks at; null: all again.
  point(row) {
    if (!this.drawn || this.kind === "encoder" || this.kind === "alignment") return;
    if (this.view === "lines") this.alone(row === null ? null : "below", row);
    this.shades?.(row === null ? null : "below", row);
  }

  // -- text: shades in the text itself, however long it is -----------------------------------------------------

  text(rows, columns, table) {
    const single = rows.length === columns.length && rows.every((token, i) => token === columns[i]);
    const on = (side, number, said) => () => { this.shades?.(side, number); this.told.textContent = said; };
    const off = () => { this.shades?.(null); this.rest(); };
    const chips = (side, tokens, weights, others) => tokens.map((token, i) => {
      const said = this.said(side, token, weights(i), others);
      const chip = el("span", { class: "chip", tabindex: "-1", role: "img", "aria-label": said }, token);
      watch(chip, on(side, i, said), off);
      return chip;
    });
    const below = chips("below", rows, (t) => table[t], columns);
    const above = single ? below : chips("above", columns, (s) => table.map((row) => row[s]), rows);
    const part = (name, tokens) => [el("p", { class: "over" }, this.say(name)), el("p", { class: "chips", dir: "auto" }, ...tokens)];
    this.stage.replaceChildren(...(single ? [part("below", below)[1]] : [...part("above", above), ...part("below", below)]));
    const whole = columns.map((_, s) => table.reduce((sum, row) => sum + row[s], 0));
    this.shades = (side, number) => {
      for (const chip of [...above, ...below]) chip.classList.remove("here");
      shade(single || side !== "above" ? above : below, side === "below" ? table[number] : side ? table.map((row) => row[number]) : whole);
      if (!single) shade(side === "above" ? above : below, []);
      if (side) (side === "below" ? below : above)[number].classList.add("here");
    };
    this.shades(null);
    walk(single ? below : [...above, ...below], (key, i) => ({ ArrowLeft: i - 1, ArrowRight: i + 1 })[key]);
  }

  // -- grid: a row for each that looks, a column for each that is looked at -------------------------------------

  grid(rows, columns, table) {
    const top = Math.max(...table.flat()) || 1;
    const small = Math.max(rows.length, columns.length) <= PRINTED;
    const tell = (event) => { if (event.target.dataset.said) this.told.textContent = event.target.dataset.said; };
    const body = rows.map((row, t) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, row), ...columns.map((column, s) => {
      const weight = table[t][s];
      const said = `${row} → ${column}: ${weight.toFixed(3)}`;
      const printed = small && weight >= 0.005 ? weight.toFixed(2) : "";
      const cell = el("td", { tabindex: "-1", "data-said": said, class: weight / top > STRONG && "strong" }, printed);
      cell.style.setProperty("--w", weight / top);
      return cell;
    })));
    const head = columns.map((column) => el("th", { scope: "col" }, el("span", { dir: "auto", class: column.length > 2 && "long" }, column)));
    const given = { class: small ? "weights" : "weights dense", onmouseover: tell, onfocusin: tell };
    const grid = el("table", given, el("thead", {}, el("tr", {}, el("td"), ...head)), el("tbody", {}, ...body));
    this.stage.replaceChildren(grid, this.scale(top));
    walk([...grid.querySelectorAll("tbody td")], (key, i) => ({
      ArrowLeft: i - 1, ArrowRight: i + 1, ArrowUp: i - columns.length, ArrowDown: i + columns.length,
    })[key]);
  }

  scale(top) {
    return el("p", { class: "scale soft" }, el("i", { "aria-hidden": "true" }), this.say("scale", { top: top.toFixed(2) }));
  }

  // The same for very many, as an image with a place in it.
  painted(rows, columns, table) {
    const top = table.reduce((most, row) => Math.max(most, ...row), 0) || 1;
    const side = Math.max(3, Math.min(12, Math.floor(1000 / columns.length)));
    const canvas = el("canvas", { class: "painted", tabindex: "0", role: "img", "aria-label": this.say("gridLabel"), width: side * columns.length, height: side * rows.length });
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(this.place);
    const ink = style.getPropertyValue("--ink").trim(), focus = style.getPropertyValue("--focus").trim();
    const at = { t: 0, s: 0 };
    const paint = () => {
      pen.clearRect(0, 0, canvas.width, canvas.height);
      table.forEach((row, t) => row.forEach((weight, s) => {
        pen.fillStyle = `rgb(${ink} / ${weight / top})`;
        if (weight) pen.fillRect(s * side, t * side, side, side);
      }));
    };
    const mark = () => {
      paint();
      pen.strokeStyle = focus;
      pen.strokeRect(at.s * side - 0.5, at.t * side - 0.5, side + 1, side + 1);
      this.told.textContent = `${rows[at.t]} → ${columns[at.s]}: ${table[at.t][at.s].toFixed(3)}`;
    };
    const go = (t, s) => {
      if (t < 0 || s < 0 || t >= rows.length || s >= columns.length) return;
      Object.assign(at, { t, s });
      mark();
    };
    canvas.addEventListener("mousemove", (event) => go(Math.floor(event.offsetY / side), Math.floor(event.offsetX / side)));
    canvas.addEventListener("focus", mark);
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!step) return;
      event.preventDefault();
      go(at.t + step[0], at.s + step[1]);
    });
    this.stage.replaceChildren(canvas, this.scale(top));
    paint();
  }
}

function shade(chips, weights) {
  const top = weights.reduce((most, weight) => Math.max(most, weight), 0) || 1;
  chips.forEach((chip, i) => {
    const share = (weights[i] ?? 0) / top;
    chip.style.setProperty("--w", share);
    chip.classList.toggle("strong", share > STRONG);
  });
}

function watch(element, on, off) {
  for (const [event, does] of [["mouseenter", on], ["focus", on], ["mouseleave", off], ["blur", off]]) element.addEventListener(event, does);
}

// Centres of tokens side by side, each as wide as its text.
function place(tokens) {
  let x = GAP;
  const centres = tokens.map((token) => {
    const [box, text] = token.children;
    const width = Math.max(26, text.getComputedTextLength() + 14);
    box.setAttribute("x", -width / 2);
    box.setAttribute("width", width);
    x += width + 4;
    return x - 4 - width / 2;
  });
  return { centres, width: x + GAP };
}

// One of the elements is reached by Tab, the others from there by arrow keys.
function walk(elements, next) {
  elements[0]?.setAttribute("tabindex", "0");
  elements.forEach((element, i) => element.addEventListener("keydown", (event) => {
    const to = elements[next(event.key, i)];
    if (!to) return;
    event.preventDefault();
    element.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  }));
}
