import { Failed, models, setKey, stream } from "./api.js";
import { el } from "./picture.js";
import { AnswerView, ClassifyView, EmbedView, FillView, TagView } from "./reading.js";
import { onLanguage, say, setLanguage } from "./words.js";
import { CompleteView, TranslateView } from "./writing.js";

// How a task's options are asked for and its answers are shown: one class a task.
const VIEWS = {
  translate: TranslateView, complete: CompleteView, classify: ClassifyView, tag: TagView,
  embed: EmbedView, answer: AnswerView, fill: FillView,
};

const at = (id) => document.getElementById(id);
const given = new URLSearchParams(location.hash.slice(1)); // what stands behind # is never sent
let served = [];
let view = null;
let running = null;
let loading = null;

function chosen() {
  return served.find((model) => model.name === at("model").value);
}

function open() {
  const model = chosen();
  if (!model) return;
  running?.abort();
  at("options").replaceChildren();
  at("shown").replaceChildren();
  at("state").textContent = say("nothing", { model: model.name });
  at("look").hidden = true;
  view = new VIEWS[model.task](model, at("options"), at("shown"), at("look"), at("picture"));
}

function refuse(error) {
  const failed = error instanceof Failed;
  const lines = failed ? error.problems.map(({ problem }) => el("li", {}, problem)) : [];
  at("wrong").replaceChildren(el("p", {}, failed ? error.message : say("lost")), el("ul", {}, ...lines));
  at("wrong").hidden = false;
  at("state").textContent = "";
  if (failed && error.status === 401) {
    at("wrong").replaceChildren(el("p", {}, say("needsKey")));
    at("keyed").hidden = false;
    at("key").focus();
  }
}

async function ask() {
  if (!(await load())) return;
  running?.abort();
  const asking = (running = new AbortController());
  const current = () => running === asking;
  const begun = performance.now();
  at("wrong").hidden = true;
  at("stop").hidden = false;
  at("state").textContent = say("working");
  const asked = { model: chosen().name, text: view.text(at("text").value), options: view.options() };
  view.begin(asked);
  try {
    for await (const [kind, data] of (view.events ?? stream)(asked, asking.signal)) {
      if (!current()) return;
      if (kind === "piece") view.piece(data);
      else {
        const said = view.answer(data.answer);
        const seconds = ((performance.now() - begun) / 1000).toFixed(2);
        at("state").textContent = [say("took", { seconds }), ...said].join(" · ");
      }
    }
  } catch (error) {
    if (error.name === "AbortError") { if (current()) at("state").textContent = say("stopped"); }
    else refuse(error);
  } finally {
    if (current()) at("stop").hidden = true;
  }
}

// Whether the models are known; asked for once, and again after a failure.
function load() {
  loading ??= openAll().catch((error) => { loading = null; refuse(error); return false; });
  return loading;
}

async function openAll() {
  served = await models();
  at("wrong").hidden = at("keyed").hidden = true;
  at("model").replaceChildren(...served.map(({ name }) => el("option", {}, name)));
  if (served.some(({ name }) => name === given.get("model"))) at("model").value = given.get("model");
  open();
  return true;
}

at("model").addEventListener("change", open);
at("key").addEventListener("input", () => setKey(at("key").value));
at("language").addEventListener("change", () => { setLanguage(at("language").value); });
at("stop").addEventListener("click", () => running?.abort());
at("form").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
at("text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  ask();
});

at("language").value = setLanguage(given.get("lang") ?? navigator.language.slice(0, 2));
onLanguage(() => { if (chosen() && !at("shown").childElementCount) at("state").textContent = say("nothing", { model: chosen().name }); });
at("text").value = given.get("text") ?? "";
at("text").focus();
if (at("text").value) ask();
else load();
