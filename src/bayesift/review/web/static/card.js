"use strict";
// One decision at a time: while one is being saved, keys do nothing, so that no card is decided unseen.
const review = document.getElementById("review");
const api = `/api/topics/${review.dataset.topic}`;
const stage = review.dataset.stage;
const csrf = document.querySelector("meta[name=csrf]").content;
const message = document.getElementById("message");
const dialog = document.getElementById("help-dialog");
const keys = { r: "relevant", i: "irrelevant", u: "unsure", s: "skip" };
const texts = JSON.parse(review.dataset.texts);
let busy = false;

function place(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function shown() {
  const card = document.querySelector("#card .card");
  return card && card.dataset.document !== undefined ? Number(card.dataset.document) : null;
}

async function send(path, body) {
  const answer = await fetch(api + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
  });
  if (answer.status === 401) {
    location.assign("/login");
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const detail = typeof content.detail === "string" ? content.detail : "The request was not understood.";
    throw new Error(detail);
  }
  return content;
}

function show(answer, sentence) {
  document.getElementById("card").innerHTML = answer.html;
  document.getElementById("decided").textContent = place(answer.counts.decided);
  document.getElementById("relevant").textContent = place(answer.counts.relevant);
  message.className = "message";
  message.textContent = sentence;
  for (const button of document.querySelectorAll("[data-decision]")) {
    button.disabled = answer.document === null;
  }
  window.scrollTo({ top: 0 });
  document.getElementById("card-title").focus({ preventScroll: true });
}

async function once(work) {
  if (busy) {
    return;
  }
  busy = true;
  review.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    message.className = "message failed";
    message.textContent = `${error.message} ${texts.failed}`;
  } finally {
    busy = false;
    review.removeAttribute("aria-busy");
  }
}

function decide(decision, reason = null) {
  once(async () => {
    const document = shown();
    if (document === null) {
      return;
    }
    await saveNote();
    show(await send("/labels", { document, decision, reason, stage }), reason === null ? texts[decision] : `${texts[decision]} ${reason}`);
    askWhetherToStop();
  });
}

function undo() {
  once(async () => {
    const answer = await send("/undo", { stage });
    show(answer, answer.undone === null ? texts.nothing : `${texts.undone} ${answer.undone}.`);
    askWhetherToStop();
  });
}

const check = document.getElementById("check");

function tell({ verdict, sentence, check: draws, checking }) {
  const line = document.getElementById("sentence");
  line.textContent = checking ? `${texts.checking} ${sentence}` : sentence;
  line.dataset.verdict = verdict;
  check.hidden = !checking && (verdict !== "not enough evidence" || draws === null);
  check.textContent = checking ? texts.usual : texts.draw;
  check.dataset.on = String(!checking);
}

let asking = 0;
function askWhetherToStop() {
  if (stage !== "abstract") {
    return;
  }
  // Not while keys fly: the sentence is for the moment when somebody rests.
  clearTimeout(asking);
  asking = setTimeout(async () => {
    const answer = await fetch(`${api}/stopping`).catch(() => null);
    if (answer && answer.ok) {
      tell(await answer.json());
    }
  }, 400);
}

check.addEventListener("click", () => once(async () => tell(await send("/check", { on: check.dataset.on === "true" }))));

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing) {
    return;
  }
  const key = event.key.toLowerCase();
  const reason = /^[1-9]$/.test(key) ? document.querySelectorAll("[data-reason]")[Number(key) - 1] : null;
  if (reason) {
    decide("irrelevant", reason.dataset.reason);
  } else if (Object.hasOwn(keys, key)) {
    decide(keys[key]);
  } else if (key === "z") {
    undo();
  } else if (key === "?") {
    dialog.showModal();
  } else {
    return;
  }
  event.preventDefault();
});
for (const button of document.querySelectorAll("[data-decision]")) {
  button.disabled = shown() === null;
  button.addEventListener("click", () => decide(button.dataset.decision, button.dataset.reason ?? null));
}
if (window.matchMedia("(max-width: 64rem)").matches) {
  document.querySelector(".criteria details")?.removeAttribute("open");
}
document.getElementById("undo").addEventListener("click", undo);
document.getElementById("help").addEventListener("click", () => dialog.showModal());
askWhetherToStop();

// A swipe to the right is relevant, to the left irrelevant; a short or steep one is none.
const FAR = 90;
const cardBox = document.getElementById("card");
let from = null;
cardBox.addEventListener("touchstart", (event) => {
  const held = event.target.closest("textarea, button, a, summary");
  from = event.touches.length === 1 && !held ? event.touches[0] : null;
}, { passive: true });
cardBox.addEventListener("touchmove", (event) => {
  const across = from ? event.touches[0].clientX - from.clientX : 0;
  cardBox.dataset.leaning = Math.abs(across) < FAR ? "" : across > 0 ? "relevant" : "irrelevant";
}, { passive: true });
cardBox.addEventListener("touchcancel", () => { from = null; cardBox.dataset.leaning = ""; });
cardBox.addEventListener("touchend", (event) => {
  cardBox.dataset.leaning = "";
  if (!from || String(getSelection())) {
    return;
  }
  const { clientX, clientY } = event.changedTouches[0];
  const across = clientX - from.clientX;
  if (Math.abs(across) >= FAR && Math.abs(clientY - from.clientY) < Math.abs(across) / 2) {
    decide(across > 0 ? "relevant" : "irrelevant");
  }
  from = null;
});
