// Attention weights, as lines between two rows of tokens or as a grid.
import { el, seen, svg } from "./dom.js";
import { onLanguage, say } from "./words.js";

const KINDS = ["cross", "encoder", "decoder"];
const HEIGHT = 190, TOP = 26, BOTTOM = 164, GAP = 10;
const FAINT = 0.02; // lines of less weight are not drawn
const STRONG = 0.7; // above it a cell is so deep that only light text reads well on it
const SAID = 4;

export class Picture {
  constructor(place) {
    this.place = place;
    this.view = "lines";
    onLanguage(() => { if (this.drawn) this.show(this.drawn); });
  }

  tell(text) {
    this.drawn = null;
    this.place.replaceChildren(el("p", { class: "soft" }, text));
  }

  show(drawn) {
    this.drawn = drawn;
    const kinds = KINDS.filter((kind) => kind in drawn.kinds);
    if (!kinds.includes(this.kind)) [this.kind, this.layer, this.head] = [kinds[0], null, 0];
    this.controls = el("div", { class: "row controls" });
    this.stage = el("div", { class: "scroll", tabindex: "0", role: "region" });
    this.told = el("output", { class: "told" });
    this.place.replaceChildren(this.controls, this.stage, this.told);
    this.choices(kinds);
    this.draw();
  }

  choices(kinds) {
    const { weights } = this.drawn.kinds[this.kind];
    this.layer = Math.min(this.layer ?? Math.max(weights.length - 2, 0), weights.length - 1);
    this.head = Math.min(this.head, weights[0].length - 1);
    const heads = weights[0].map((_, i) => [i, i ? String(i) : say("mean")]);
    const rows = [
      ["kind", "looking", kinds.map((kind) => [kind, say(kind)])],
      ["layer", "layer", weights.map((_, i) => [i, String(i + 1)])],
      ["head", "head", heads],
      ["view", "view", [["lines", say("lines")], ["grid", say("grid")]]],
    ];
    this.controls.replaceChildren(...rows.map(([name, label, values]) => {
      const options = values.map(([value, text]) => el("option", { value, selected: value === this[name] }, text));
      const select = el("select", { name, autocomplete: "off" }, ...options);
      select.addEventListener("change", () => {
        this[name] = name === "kind" || name === "view" ? select.value : Number(select.value);
        if (name === "kind") { this.layer = null; this.choices(kinds); this.controls.querySelector("[name=kind]").focus(); }
        this.draw();
      });
      return el("label", {}, el("span", {}, say(label)), select);
    }));
  }

  draw() {
    const { rows, columns, weights } = this.drawn.kinds[this.kind];
    const table = weights[this.layer][this.head];
    this.told.textContent = say("pick");
    this.stage.setAttribute("aria-label", say(this.view === "lines" ? "linesLabel" : "gridLabel"));
    if (this.view === "lines") this.lines(rows.map(seen), columns.map(seen), table);
    else this.grid(rows.map(seen), columns.map(seen), table);
  }

  // Above what is looked at, below what looks.
  lines(rows, columns, table) {
    const links = svg("g", { class: "links" });
    const above = columns.map((token, s) => this.token(token, TOP, "above", s, table.map((row) => row[s]), rows));
    const below = rows.map((token, t) => this.token(token, BOTTOM, "below", t, table[t], columns));
    const figure = svg("svg", { class: "lines", height: HEIGHT, role: "group", "aria-label": say("linesLabel") }, links, ...above, ...below);
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
    walk([...above, ...below], (event, i) => ({
      ArrowLeft: i - 1, ArrowRight: i + 1, ArrowUp: i - columns.length, ArrowDown: i + columns.length,
    })[event.key]);
  }

  token(token, y, side, number, weights, others) {
    const looked = weights.map((weight, i) => [weight, others[i]]).filter(([weight]) => weight >= FAINT).sort((a, b) => b[0] - a[0]);
    const list = looked.slice(0, SAID).map(([weight, other]) => `${other} ${weight.toFixed(2)}`).join(", ") || say("nobody");
    const said = say(side === "below" ? "looksAt" : "seenBy", { token, others: list });
    const text = svg("text", { y, "text-anchor": "middle", direction: "ltr" }, token);
    const group = svg("g", { class: "token", tabindex: "-1", role: "img", "aria-label": said }, svg("rect", { y: y - 20, height: 28, rx: 6 }), text);
    const on = () => { this.alone(side, number); this.told.textContent = said; };
    const off = () => this.alone(null);
    for (const [event, does] of [["mouseenter", on], ["focus", on], ["mouseleave", off], ["blur", off]]) group.addEventListener(event, does);
    return group;
  }

  alone(side, number) {
    const mine = (path) => side === null || (side === "below" ? path.t : path.s) === number;
    for (const path of this.paths) path.classList.toggle("away", !mine(path));
    if (side === null) this.told.textContent = say("pick");
  }

  // Shows the lines of one token of the answer; null: all again.
  point(row) {
    if (!this.drawn || this.view !== "lines" || this.kind === "encoder") return;
    this.alone(row === null ? null : "below", row);
  }

  grid(rows, columns, table) {
    const top = Math.max(...table.flat()) || 1;
    const tell = (event) => { if (event.target.dataset.said) this.told.textContent = event.target.dataset.said; };
    const body = rows.map((row, t) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, row), ...columns.map((column, s) => {
      const weight = table[t][s];
      const said = `${row} → ${column}: ${weight.toFixed(3)}`;
      const cell = el("td", { tabindex: "-1", "data-said": said, class: weight / top > STRONG && "strong" }, weight < 0.005 ? "" : weight.toFixed(2));
      cell.style.setProperty("--w", weight / top);
      return cell;
    })));
    const head = columns.map((column) => el("th", { scope: "col" }, el("span", { dir: "auto", class: column.length > 2 && "long" }, column)));
    const grid = el("table", { onmouseover: tell, onfocusin: tell }, el("thead", {}, el("tr", {}, el("td"), ...head)), el("tbody", {}, ...body));
    this.stage.replaceChildren(grid);
    this.paths = [];
    walk([...grid.querySelectorAll("tbody td")], (event, i) => ({
      ArrowLeft: i - 1, ArrowRight: i + 1, ArrowUp: i - columns.length, ArrowDown: i + columns.length,
    })[event.key]);
  }
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
    const to = elements[next(event, i)];
    if (!to) return;
    event.preventDefault();
    element.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  }));
}
