// What pages do besides reading and posting: ask before what can't be undone, count what is selected, go by keys.
// Lists that live are in live.js. Pages can be read without both.
"use strict";

document.documentElement.classList.add("js");

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// ----------------------------------------------------------------------------------------------- asking first

const ask = one("#ask");

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === ask && ask.innerHTML.trim() && !ask.open) ask.showModal();
  const wanted = one("[data-focus]", event.detail.target === ask ? ask : event.detail.elt);
  if (wanted && event.detail.target.id !== "said") wanted.focus();
  grow(event.detail.elt);
});
document.addEventListener("said", () => {
  // Something was done, or could not be: either way it stands on the page now.
  if (ask && ask.open) ask.close();
});
if (ask) {
  ask.addEventListener("close", () => { ask.innerHTML = ""; });
  ask.addEventListener("click", (event) => {
    if (event.target === ask) ask.close();
  });
}

// ------------------------------------------------------------------------------------------------- selection

function selected() {
  const bulk = one("#bulk");
  if (!bulk) return;
  const boxes = all('#rows input[type=checkbox][name="id"]');
  const chosen = boxes.filter((box) => box.checked).length;
  bulk.classList.toggle("some", chosen > 0);
  for (const word of all("[data-selected]", bulk)) word.textContent = chosen ? `${chosen} selected` : "None selected";
  for (const control of all("[data-needs-selection]", bulk)) {
    const kind = control.dataset.needsSelection; // a state that one of the selected has to be in
    const fits = kind ? boxes.some((box) => box.checked && box.closest(`.${kind}`)) : chosen > 0;
    if (control.tagName === "BUTTON") control.disabled = !fits;
    else control.setAttribute("aria-disabled", String(!fits));
    if (!fits && control.closest("details")) control.closest("details").open = false;
  }
  const whole = one("[data-select-all]");
  if (whole) {
    whole.checked = chosen > 0 && chosen === boxes.length;
    whole.indeterminate = chosen > 0 && chosen < boxes.length;
  }
}

document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.matches("[data-select-all]")) {
    for (const box of all('#rows input[type=checkbox][name="id"]')) box.checked = field.checked;
  }
  if (field.matches("input[type=checkbox]")) selected();
  const form = field.closest("form[data-submit]");
  if (form) form.requestSubmit();
});

document.addEventListener("input", (event) => {
  const field = event.target;
  if (field.matches("input[type=range]")) one(`output[for="${CSS.escape(field.id)}"]`).textContent = String(Number(field.value));
  grow(field.parentElement);
});

// ---------------------------------------------------------------------------------------- the command palette

const palette = one("#palette");

function placesFor(words) {
  const wanted = words.toLowerCase();
  const pages = all(".nav a").map((link) => [link.firstElementChild.nextSibling.textContent.trim(), link.href]);
  const switcher = one("form.spaces");
  const others = all("#space option").filter((option) => !option.selected);
  const spaces = others.map(({ value }) => [`Space ${value}`, `${switcher.action}?space=${encodeURIComponent(value)}`]);
  const acts = all("#palette-acts a").map((link) => [link.textContent, link.href]);
  const themes = all("[data-theme-choice]")[0].options;
  const looks = [...themes].map(({ value, text }) => [`Theme: ${text.toLowerCase()}`, () => choose(value)]);
  const leave = all('form[action="/logout"]').slice(0, 1).map((form) => ["Sign out", () => form.requestSubmit()]);
  const found = [...pages, ...spaces, ...acts, ...looks, ...leave].filter(([says]) => says.toLowerCase().includes(wanted));
  if (!words) return found;
  const searched = (name) => {
    const address = new URL(one("#palette-words").dataset[name], location);
    address.searchParams.set("q", words);
    return address.href;
  };
  return [...found, [`Memories with “${words}”`, searched("memories")], [`Ask “${words}”`, searched("search")]];
}

function showPlaces() {
  const rows = placesFor(one("#palette-words").value.trim()).map(([says, goal]) => {
    const does = typeof goal === "function";
    const entry = Object.assign(document.createElement(does ? "button" : "a"), { textContent: says });
    if (does) entry.addEventListener("click", () => { goal(); palette.close(); });
    else entry.href = goal;
    const row = document.createElement("li");
    row.append(entry);
    return row;
  });
  one("#palette-places").replaceChildren(...rows);
}

function openPalette() {
  if (!palette || palette.open || (ask && ask.open)) return;
  one("#palette-words").value = "";
  one("#palette-found").replaceChildren();
  showPlaces();
  palette.showModal();
}

if (palette) {
  palette.addEventListener("input", showPlaces);
  palette.addEventListener("click", (event) => {
    if (event.target === palette) palette.close();
  });
  palette.addEventListener("keydown", (event) => {
    const links = all("li:not([hidden] *) :is(a, button)", palette);
    const at = links.indexOf(document.activeElement);
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way) {
      event.preventDefault();
      (links[at + way] || one("#palette-words")).focus();
    } else if (event.key === "Enter" && at < 0 && links.length) {
      event.preventDefault(); // else the key goes on to the field that has the focus when the palette is closed
      links[0].click();
    }
  });
  for (const opener of all("[data-palette]")) opener.addEventListener("click", openPalette);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    openPalette();
  });
}

// -------------------------------------------------------------------------------------- theme, folded filters

function choose(name) {
  theme.set(name);
  for (const choice of all("[data-theme-choice]")) choice.value = name;
}

for (const choice of all("[data-theme-choice]")) {
  choice.value = theme.get();
  choice.addEventListener("change", () => choose(choice.value));
}

for (const fold of all(".filters > .fold")) {
  fold.addEventListener("click", () => {
    const open = fold.closest(".filters").classList.toggle("unfolded");
    fold.setAttribute("aria-expanded", String(open));
  });
}

// --------------------------------------------------------------------------------------------- edit in place

function opened(name) {
  const details = document.getElementById(name);
  details.open = true;
  one("textarea, input:not([type=hidden])", details).focus();
}

// As it was before: what is typed is saved by now, or not wanted.
function shut(details) {
  one("form", details).reset();
  details.open = false;
  one(`[data-opens="${CSS.escape(details.id)}"]`).focus();
}

document.addEventListener("click", (event) => {
  const clicked = event.target.closest("[data-opens], [data-shut]");
  if (!clicked) return;
  event.preventDefault();
  if (clicked.matches("[data-opens]")) opened(clicked.dataset.opens);
  else shut(document.getElementById(clicked.dataset.shut));
});
document.addEventListener("htmx:afterRequest", (event) => {
  const details = event.detail.elt.closest("details.in-place");
  if (details && event.detail.successful && event.detail.requestConfig.verb === "post") shut(details);
});

// -------------------------------------------------------------------------------------------------- the rest

document.addEventListener("click", (event) => {
  const clicked = event.target.closest("[data-close], [data-dismiss], [data-copy], [aria-disabled=true]");
  if (!clicked) {
    for (const pop of all("details.pop[open]")) if (!pop.contains(event.target)) pop.open = false;
    return;
  }
  if (clicked.matches("[aria-disabled=true]")) event.preventDefault();
  if (clicked.matches("[data-close]") && ask && ask.open) {
    event.preventDefault();
    ask.close();
  }
  if (clicked.matches("[data-dismiss]")) clicked.closest(".notice").remove();
  if (clicked.matches("[data-copy]")) copied(clicked);
});

async function copied(button) {
  const words = button.innerHTML;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy it";
  }
  setTimeout(() => { button.innerHTML = words; }, 1600);
}

// A list that is walked through by keys: j and k go from one to the next, other letters decide about it.
const DECIDING = { a: ".approve", e: ".edit-first", r: ".reject", x: 'input[name="id"]' };
let walkedTo = 0;
let walking = false;

function walk(place) {
  const items = all("[data-walk] [data-item]");
  for (const item of items) item.classList.remove("current");
  if (!items.length) return;
  walkedTo = Math.min(Math.max(place, 0), items.length - 1);
  walking = true;
  items[walkedTo].classList.add("current");
  items[walkedTo].focus({ preventScroll: true });
  items[walkedTo].scrollIntoView({ block: "nearest" });
}

function walked(key) {
  if (!one("[data-walk]")) return false;
  const current = one("[data-walk] .current");
  const items = all("[data-walk] [data-item]");
  if (current) walkedTo = items.indexOf(current);
  if (key === "j" || key === "k") walk(current ? walkedTo + (key === "j" ? 1 : -1) : walkedTo);
  else if (!current || !Object.hasOwn(DECIDING, key)) return false;
  else one(DECIDING[key], current)?.click();
  return true;
}

// What was decided goes at once, though the keys have just been there; the next one takes its place.
document.addEventListener("said", () => {
  if (document.activeElement.closest("[data-walk]")) document.activeElement.blur();
});

// A key clicks what carries it, or goes into it, unless somebody is typing.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("textarea")) {
    event.preventDefault();
    event.target.form?.requestSubmit();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select");
  if (event.key === "Escape") {
    for (const pop of all("details.pop[open]")) pop.open = false;
    const editing = event.target.closest("details.in-place[open]");
    if (editing) shut(editing);
    const near = event.target.closest("[data-editing]");
    const way = near && one('[data-key="Escape"]', near);
    if (way) way.click();
    return;
  }
  if (typing || (ask && ask.open) || (palette && palette.open)) return;
  if (walked(event.key)) {
    event.preventDefault();
    return;
  }
  const wanted = one(`[data-key="${CSS.escape(event.key)}"]`);
  if (!wanted) return;
  event.preventDefault();
  if (wanted.matches("input, textarea, select")) wanted.focus();
  else wanted.click();
});

// A slider over days moves a date, and the other way round.
function dayAt(slider) {
  const day = new Date(`${slider.dataset.today}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + Number(slider.value));
  return Number(slider.value) === 0 ? "" : day.toISOString().slice(0, 10);
}

document.addEventListener("input", (event) => {
  const field = event.target;
  if (field.matches("[data-day]")) {
    document.getElementById(field.dataset.day).value = dayAt(field);
    one(`output[for="${CSS.escape(field.id)}"]`).textContent = dayAt(field) || "now";
    return;
  }
  const slider = field.id && one(`[data-day="${CSS.escape(field.id)}"]`);
  if (!slider) return;
  const days = field.value ? (Date.parse(field.value) - Date.parse(slider.dataset.today)) / 86400000 : 0;
  slider.value = String(Math.min(days, 0));
  one(`output[for="${CSS.escape(slider.id)}"]`).textContent = field.value || "now";
});

function grow(within) {
  for (const field of all("textarea[data-grow]", within || document)) {
    field.rows = Math.min(Math.max(field.value.split("\n").length, Math.ceil(field.value.length / 90), 3), 20);
  }
}

const STEPS = [[60, "min"], [24, "h"], [30, "d"]];

function ago(seconds) {
  let amount = Math.abs(seconds) / 60;
  if (amount < 1) return seconds >= 0 ? "just now" : "in a moment";
  for (const [most, unit] of STEPS) {
    if (amount < most) return seconds >= 0 ? `${Math.floor(amount)} ${unit} ago` : `in ${Math.floor(amount)} ${unit}`;
    amount /= most;
  }
  return null;
}

setInterval(() => {
  for (const time of all("time[datetime]")) {
    const words = ago((Date.now() - Date.parse(time.dateTime)) / 1000);
    if (words && time.textContent !== words) time.textContent = words;
  }
}, 20000);

// An address can name a form to open; another one on the same page comes from the palette.
function openNamed() {
  if (palette) palette.close();
  const name = location.hash.slice(1);
  if (name && one(`details.editing#${CSS.escape(name)}`)) opened(name);
}
window.addEventListener("hashchange", openNamed);
openNamed();
grow(document);
selected();
document.addEventListener("htmx:afterSettle", selected);
