// Shows the problems and the graph of a definition while somebody writes it. The form works without this module. The
// text area is never replaced: answers only change what is beside it.
import {morph, parse} from './live.js';

const form = document.querySelector('form[data-editor]');
const area = form.querySelector('#text');
const marks = form.querySelector('[data-marks]');
const pause = 30; // ms after the last keystroke

let asked = 0;   // requests
let shown = 0;   // number of the request whose problems are shown
let checking = null, timer = 0, saved = area.value;

// send sends the form as a button does, and shows the answer. An older answer never replaces a newer one.
async function send(what, signal) {
  const mine = ++asked;
  const text = area.value;
  const body = new URLSearchParams(new FormData(form));
  body.set('do', what);
  body.set('part', '1');
  const answer = await fetch(form.action, {method: 'POST', body, signal, headers: {Accept: 'text/html'}});
  if (answer.redirected) { // it is stored
    saved = text;
    if (area.value === text) location.href = answer.url;
    return;
  }
  const page = parse(await answer.text());
  if (!page.getElementById('told')) document.querySelector('#told').textContent = form.dataset.saysAway;
  for (const id of ['told', 'tried', 'checked']) {
    const now = page.getElementById(id), old = document.getElementById(id);
    if (!now || id === 'checked' && mine < shown) continue;
    if (id === 'checked') keepGraph(old, now);
    morph(old, document.importNode(now, true));
  }
  shown = Math.max(shown, mine);
  number();
}

// keepGraph keeps the last graph while the text has errors.
function keepGraph(old, now) {
  const drawn = old.querySelector('[data-graph] svg')?.closest('[data-graph]'), none = now.querySelector('[data-graph=none]');
  if (!drawn || !none || !area.value) return;
  const kept = now.ownerDocument.importNode(drawn, true);
  kept.querySelector('[data-old]')?.remove();
  const note = now.ownerDocument.createElement('p');
  note.className = 'soft';
  note.dataset.old = '';
  note.textContent = form.dataset.saysOld;
  kept.prepend(note);
  none.replaceWith(kept);
}

function check() {
  checking?.abort();
  checking = new AbortController();
  send('check', checking.signal).catch(() => {}); // a newer text was sent, or the server is away: the next one tells
}

// number writes the numbers of the lines, and marks those with problems.
function number() {
  const problems = new Map([...document.querySelectorAll('#checked [data-line]')].map(a => [+a.dataset.line, a.dataset.mark]));
  const lines = area.value.split('\n').length;
  const all = [];
  for (let n = 1; n <= lines; n++) all.push((problems.get(n) ?? ' ') + String(n).padStart(5));
  const text = all.join('\n');
  if (marks.textContent !== text) marks.textContent = text;
  marks.scrollTop = area.scrollTop;
}

// go puts the cursor to a line and a column, which counts characters.
function go(line, column) {
  const lines = area.value.split('\n');
  const before = lines.slice(0, line - 1).reduce((n, text) => n + text.length + 1, 0);
  const at = before + [...(lines[line - 1] ?? '')].slice(0, column - 1).join('').length;
  area.focus();
  area.setSelectionRange(at, at);
  area.scrollTop = Math.max(0, (line - 5) * parseFloat(getComputedStyle(area).lineHeight));
}

form.addEventListener('input', () => {
  number();
  clearTimeout(timer);
  timer = setTimeout(check, pause);
});
form.addEventListener('submit', event => {
  event.preventDefault();
  clearTimeout(timer);
  form.setAttribute('aria-busy', 'true');
  send(event.submitter?.value ?? 'check').catch(() => { // the server is away: as without this module
    saved = area.value;
    form.submit();
  }).finally(() => form.removeAttribute('aria-busy'));
});
let pressed = null; // the link on which Enter is down: before it is up, its character would come into the text
function follow(event) {
  const to = event.target.closest('[data-line]');
  if (!to || event.type !== 'click' && event.key !== 'Enter') return;
  event.preventDefault();
  if (event.type === 'keydown') pressed = to;
  else if (event.type === 'click' || pressed === to) go(+to.dataset.line, +to.dataset.column);
}
for (const kind of ['click', 'keydown', 'keyup']) document.querySelector('#checked').addEventListener(kind, follow);
area.addEventListener('scroll', () => marks.scrollTop = area.scrollTop);
addEventListener('beforeunload', event => area.value !== saved && event.preventDefault());
marks.hidden = false;
number();
