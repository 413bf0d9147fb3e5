// Shows the problems and the graph of a definition while a user writes it. The form works without this module. The
// text area is never replaced: answers only change what is beside it.
import {morph, parse} from './live.js';

const form = document.querySelector('form[data-editor]');
const area = form.querySelector('#text');
const marks = form.querySelector('[data-marks]');
const pause = 30; // ms between two requests

let asked = 0;   // requests
let shown = 0;   // number of the request whose problems are shown
let checking = null, timer = 0, last = 0, saved = area.value;
let drawing = 0; // frame before a new graph is shown

// send sends the form as a button does, and shows the answer. An older answer never replaces a newer one.
async function send(what, signal) {
  const mine = ++asked;
  const text = area.value;
  const body = new URLSearchParams(new FormData(form));
  body.set('do', what);
  body.set('part', '1');
  const drawn = document.querySelector('#checked [data-drawn]')?.dataset.drawn ?? '';
  body.set('drawn', drawn);
  const answer = await fetch(form.action, {method: 'POST', body, signal, headers: {Accept: 'text/html'}});
  if (answer.redirected) { // it is stored
    saved = text;
    if (area.value === text) location.href = answer.url;
    return;
  }
  const page = parse(await answer.text());
  if (!page.getElementById('told')) document.querySelector('#told').textContent = form.dataset.saysAway;
  for (const id of ['told', 'tried']) {
    const now = page.getElementById(id);
    if (now) morph(document.getElementById(id), document.importNode(now, true));
  }
  const now = page.getElementById('checked');
  if (!now || mine < shown) return;
  shown = mine;
  const old = document.getElementById('checked');
  morph(old.querySelector('[data-found]'), document.importNode(now.querySelector('[data-found]'), true));
  number();
  graph(old.querySelector('[data-graph]'), now.querySelector('[data-graph]'), drawn);
}

// graph shows a new graph after the problems, because a browser takes longer for it. While the text has errors, the
// last graph stays. A graph that has not changed since the request was sent is not in the answer.
function graph(old, now, sent) {
  cancelAnimationFrame(drawing);
  const kind = now.dataset.graph, drawn = old.dataset.drawn ?? '';
  if (kind === 'same' && drawn !== sent) {
    check();
  } else if (kind === 'same' || kind === 'none' && drawn && area.value) {
    old.querySelector('[data-old]')?.remove();
    if (kind === 'same') return;
    const note = document.createElement('p');
    note.className = 'soft';
    note.dataset.old = '';
    note.textContent = form.dataset.saysOld;
    old.prepend(note);
  } else {
    drawing = requestAnimationFrame(() => {
      drawing = requestAnimationFrame(() => {
        const from = old.querySelector('.picture'), to = now.querySelector('.picture');
        const [left, top] = [from?.scrollLeft ?? 0, from?.scrollTop ?? 0];
        old.replaceWith(document.adoptNode(now));
        to?.scrollTo(left, top);
      });
    });
  }
}

function check() {
  clearTimeout(timer);
  last = performance.now();
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
  if (marks.textContent === text) return; // to ask where the text area is takes a layout
  marks.textContent = text;
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
  clearTimeout(timer);
  const left = last + pause - performance.now();
  if (left > 0) timer = setTimeout(check, left); else check();
  number();
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
