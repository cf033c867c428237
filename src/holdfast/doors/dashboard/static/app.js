// What pages do besides reading and posting: keep lists up to date without disturbing anybody, ask before
// what can't be undone, count what is selected. Pages can be read without it.
"use strict";

document.documentElement.classList.add("js");

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// ------------------------------------------------------------------------------------------- lists that live

const FIELDS = "input:not([type=checkbox]):not([type=radio]):not([type=hidden]), textarea, select";

function inUse(element) {
  if (element.matches("[data-editing]") || one("[data-editing], details[open], dialog[open]", element)) return true;
  if (element.contains(document.activeElement) && document.activeElement !== document.body) return true;
  return all(FIELDS, element).some((field) => field.value !== field.defaultValue && field.tagName !== "SELECT");
}

function replaced(old, made) {
  for (const box of all("input[type=checkbox]:checked", old)) {
    const same = box.value && one(`input[type=checkbox][value="${CSS.escape(box.value)}"]`, made);
    if (same) same.checked = true;
  }
  old.replaceWith(made);
  htmx.process(made);
}

// The children of a list, told apart by their ids: what changed is replaced, what is new comes in, what is gone
// goes; what somebody works on stays as it is. Answers whether all could be done.
function reconciled(list, fresh) {
  let whole = true;
  let added = 0;
  const wanted = new Set([...fresh.children].map((child) => child.id));
  for (const child of [...list.children]) {
    if (wanted.has(child.id)) continue;
    if (inUse(child)) whole = false;
    else child.remove();
  }
  let before = list.firstElementChild;
  for (const made of [...fresh.children]) {
    const known = document.getElementById(made.id);
    if (!known || known.parentElement !== list) {
      made.classList.add("fresh");
      list.insertBefore(made, before);
      htmx.process(made);
      added += 1;
      continue;
    }
    if (known === before) before = known.nextElementSibling;
    else list.insertBefore(known, before);
    if (alike(known, made)) continue;
    if (inUse(known)) whole = false;
    else replaced(known, made);
  }
  if (added) one("#heard").textContent = added === 1 ? "One new line" : `${added} new lines`;
  return whole;
}

// Times move on by themselves, and a tick is the reader's own.
function alike(known, made) {
  const plain = (element) => {
    const copy = element.cloneNode(true);
    copy.classList.remove("fresh", "current", "htmx-added", "htmx-settling");
    for (const time of all("time", copy)) time.textContent = "";
    return copy.outerHTML;
  };
  return plain(known) === plain(made);
}

function refreshed(region, text) {
  const parsed = new DOMParser().parseFromString(text, "text/html");
  const fresh = one("[data-live]", parsed);
  if (!fresh) return;
  let whole = true;
  const lists = all("[data-keyed]", fresh);
  for (const list of lists) {
    const known = document.getElementById(list.id);
    if (known) whole = reconciled(known, list) && whole;
  }
  for (const element of all("[data-part]", parsed)) {
    const known = document.getElementById(element.id);
    if (known && !alike(known, element)) {
      if (inUse(known)) whole = false;
      else replaced(known, document.importNode(element, true));
    }
  }
  if (whole) region.dataset.seen = fresh.dataset.seen;
  if (one("[data-walk]", region) && walking && !one("[data-walk] .current")) walk(walkedTo);
  selected();
}

document.addEventListener("htmx:configRequest", (event) => {
  const region = event.detail.elt;
  if (region.matches("[data-live]")) event.detail.headers["X-Seen"] = region.dataset.seen;
});
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.matches("[data-live]") && document.hidden) event.preventDefault();
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const region = event.detail.requestConfig.elt;
  if (!region.matches("[data-live]")) return;
  event.detail.shouldSwap = false;
  if (event.detail.xhr.status !== 200) return;
  if (region.matches("[data-reload]")) location.reload();
  else refreshed(region, event.detail.serverResponse);
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) htmx.trigger(document.body, "changed");
});

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
document.addEventListener("htmx:sendError", (event) => {
  if (!event.detail.elt.matches("[data-live]")) one("#said").replaceChildren(one("#lost").content.cloneNode(true));
});
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status >= 500) one("#said").replaceChildren(one("#lost").content.cloneNode(true));
});

// ------------------------------------------------------------------------------------------------- selection

function selected() {
  const bulk = one("#bulk");
  if (!bulk) return;
  const boxes = all('#rows input[type=checkbox][name="id"]');
  const chosen = boxes.filter((box) => box.checked).length;
  bulk.classList.toggle("some", chosen > 0);
  for (const word of all("[data-selected]", bulk)) word.textContent = chosen ? `${chosen} selected` : "None selected";
  for (const control of all("[data-needs-selection]", bulk)) {
    if (control.tagName === "BUTTON") control.disabled = chosen === 0;
    else control.setAttribute("aria-disabled", String(chosen === 0));
    if (chosen === 0 && control.closest("details")) control.closest("details").open = false;
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
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select");
  if (event.key === "Escape") {
    for (const pop of all("details.pop[open]")) pop.open = false;
    const near = event.target.closest("[data-editing]");
    const way = near && one('[data-key="Escape"]', near);
    if (way) way.click();
    return;
  }
  if (typing || (ask && ask.open)) return;
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

if (location.hash === "#edit" && one("details#edit")) one("details#edit").open = true;
grow(document);
selected();
document.addEventListener("htmx:afterSettle", selected);
