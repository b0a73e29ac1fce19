// The page's own words. Whatever the server says stays as it is.
import { el } from "./picture.js";

const WORDS = {
  en: {
    skip: "To the answer", model: "Model", text: "Text", key: "Key of this server",
    ask: "Answer", stop: "Stop", hint: "Enter answers, Shift+Enter starts a new line.", answer: "Answer",
    nothing: "Type a text, and what {model} makes of it stands here.",
    working: "…", took: "{seconds} s", tokens: "{count} tokens", cut: "cut at the longest length",
    stopped: "stopped", empty: "nothing", lost: "The server does not answer. Is it running?",
    needsKey: "This server asks for a key.",
    search: "Search", best: "Beam", greedy: "Greedy", draw: "Draw",
    aboutBest: "the likeliest of several that grow side by side", aboutGreedy: "the likeliest next token, shown as it comes",
    aboutDraw: "tokens drawn by chance", beam: "Beam", nbest: "Answers", temperature: "Temperature", top_p: "Top-p", seed: "Seed",
    more: "What comes and what does not", prefix: "Begins with", require: "Holds", forbid: "Does not hold",
    several: "several: with commas between",
    answers: "Answers, the best first", drawn: "Answers as they were drawn", score: "score", probability: "probability", pieces: "Tokens of the answer, and how likely each was",
    attention: "What the model looks at", classes: "Every label and how likely it is", others: "{count} more labels",
    pair: "Two texts: one on each line, or a line of a table with a tab between them.", token: "Word", tag: "Tag",
    question: "On the first line the question, behind it the text that may answer it.", none: "no answer in this text",
    blank: "Write [MASK], or the mask of the model's own vocabulary, where something is left out.", compare: "One text a line: the first is compared with the others.",
    nearest: "The others, the most alike first", numbers: "{count} numbers",
    each: "Word by word", spans: "{count} marked",
  },
  zh: {
    skip: "跳到答案", model: "模型", text: "文本", key: "本服务的密钥",
    ask: "回答", stop: "停止", hint: "Enter 回答，Shift+Enter 换行。", answer: "答案",
    nothing: "输入一段文本，{model} 的答案会显示在这里。",
    working: "…", took: "{seconds} 秒", tokens: "{count} 个 token", cut: "到最大长度被截断",
    stopped: "已停止", empty: "空", lost: "服务没有回应。它还在运行吗？",
    needsKey: "本服务需要密钥。",
    search: "搜索方式", best: "束搜索", greedy: "贪心", draw: "采样",
    aboutBest: "多个候选并行生长，取最可能的", aboutGreedy: "每步取最可能的 token，边写边显示",
    aboutDraw: "按概率随机抽取 token", beam: "束宽", nbest: "答案数", temperature: "温度", top_p: "Top-p", seed: "种子",
    more: "必须出现与不许出现", prefix: "开头是", require: "包含", forbid: "不含",
    several: "多个之间用逗号隔开",
    answers: "候选答案，最好的在前", drawn: "抽取到的答案", score: "得分", probability: "概率", pieces: "答案的 token 及各自的概率",
    attention: "模型在看哪里", classes: "每个标签及其概率", others: "还有 {count} 个标签",
    pair: "两段文本：各占一行，或粘贴表格中以制表符隔开的一行。", token: "词", tag: "标签",
    question: "第一行是问题，后面是可能含有答案的文本。", none: "这段文本里没有答案",
    blank: "在空缺处写 [MASK]，或该模型词表自己的掩码。", compare: "每行一个文本：第一行与其余各行比较。",
    nearest: "其余各行，最相近的在前", numbers: "{count} 个数",
    each: "逐词查看", spans: "标出 {count} 处",
  },
};

let language = "en";
const told = new Set();

export function say(word, values = {}) {
  return WORDS[language][word].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// The same as an element that changes with the language.
export const word = (name) => el("span", { "data-word": name }, say(name));

// Tells `listener` now and whenever the language changes.
export function onLanguage(listener) {
  told.add(listener);
  listener(language);
}

export function setLanguage(chosen) {
  language = chosen in WORDS ? chosen : "en";
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = say(element.dataset.word);
  for (const listener of told) listener(language);
  return language;
}
