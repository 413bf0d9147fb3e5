// Keeps the page as the database is. All tabs of a browser share one stream: the tab that holds the lock opens it and
// tells the others. A tab that is hidden takes no part. Without a stream the page asks from time to time, and says so.
const main = document.querySelector('main[data-topic]');
const policy = window.trustedTypes?.createPolicy('ebb', {createHTML: text => text}) ?? {createHTML: text => text};
const says = document.querySelector('[data-live]');

// morph makes a node what another is, and keeps what the reader did: what is folded, typed, scrolled and focused.
export function morph(old, now) {
  if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName) {
    old.replaceWith(now);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  if (old.hasAttribute('data-own') && now.hasAttribute('data-own')) { // a script of its own keeps it
    old.dispatchEvent(new Event('ebb-fresh'));
    return;
  }
  if (old.nodeName === 'FORM') return;
  for (const {name} of [...old.attributes]) {
    if (!now.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
  }
  for (const {name, value} of now.attributes) {
    if (name !== 'open' && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.hasAttribute('data-keep')) {
    morphRows(old, now);
    return;
  }
  let at = old.firstChild;
  for (const child of [...now.childNodes]) {
    let same = at;
    while (same && !alike(same, child)) same = same.nextSibling;
    if (!same) {
      old.insertBefore(child, at);
      continue;
    }
    for (let gone; at !== same; gone.remove()) at = (gone = at).nextSibling;
    at = same.nextSibling;
    morph(same, child);
  }
  for (let gone; at; gone.remove()) at = (gone = at).nextSibling;
}

// alike reports whether a node can become another one. Between the parts of a page, others may come and go.
const alike = (old, now) => old.nodeName === now.nodeName &&
  (old.nodeName !== 'DIV' || old.classList[0] === now.classList[0] || old.hasAttribute('data-own') && now.hasAttribute('data-own'));

// morphRows changes the rows that are shown, and announces new ones without moving those that the reader looks at.
function morphRows(old, now) {
  const rows = new Map([...old.children].map(row => [row.dataset.key, row]));
  let fresh = 0;
  for (const row of [...now.children]) {
    const shown = rows.get(row.dataset.key);
    if (shown) morph(shown, row); else fresh++;
  }
  const note = document.querySelector('[data-fresh]');
  if (note) {
    note.hidden = fresh === 0;
    note.querySelector('b').textContent = fresh;
  }
}

// parse reads a page that the server has sent.
export const parse = text => new DOMParser().parseFromString(policy.createHTML(text), 'text/html');

let asking = false, again = false;
async function refresh() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    const headers = {Accept: 'text/html'};
    if (document.querySelector('[data-levels].windowed')) headers['Ebb-Windowed'] = '1'; // run.js asks for the rows
    const at = location.href, answer = await fetch(at, {headers, redirect: 'error'});
    const page = answer.ok && parse(await answer.text()), body = page && page.querySelector('main');
    if (at !== location.href) { // meanwhile the reader has chosen something else
      again = true;
    } else if (body) {
      const now = document.importNode(body, true);
      showTimes(now);
      morph(main, now);
      moved();
    }
  } catch {
    // the server is away; the next event, or the next time, tells more
  }
  asking = false;
  if (again) {
    again = false;
    refresh();
  }
}

const tabs = new BroadcastChannel('ebb ' + new URL('.', location.href).pathname);
const me = crypto.randomUUID();
const topics = new Map([[me, main?.dataset.topic]]); // of this tab, and in the leader those of all visible tabs
let source = null, leading = false;

function say(live) {
  const text = says?.dataset[live ? 'saysLive' : 'saysPolling'];
  if (says && says.textContent !== text) says.textContent = text;
}

function open() {
  source?.close();
  const pages = [...new Set(topics.values())].filter(Boolean).sort().slice(0, 16);
  if (pages.length === 0) return;
  source = new EventSource('stream?' + pages.map(page => 'on=' + encodeURIComponent(page)).join('&'));
  source.onopen = () => tabs.postMessage({live: true}) || heard({live: true});
  source.onmessage = event => {
    tabs.postMessage({changed: JSON.parse(event.data)});
    heard({changed: JSON.parse(event.data)});
  };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) { // the server refused it
      heard({live: false});
      tabs.postMessage({live: false});
      setTimeout(() => leading && open(), 5000);
    }
  };
}

let live = false;
function heard(message) {
  if (message.live !== undefined) {
    live = message.live;
    say(live);
  }
  if (message.changed?.includes(main.dataset.topic)) {
    live = true;
    say(live);
    refresh();
  }
}

if (main) tabs.onmessage = ({data}) => {
  if (data.hello !== undefined && leading && topics.get(data.tab) !== data.hello) {
    topics.set(data.tab, data.hello);
    open();
  } else if (data.bye && topics.delete(data.bye) && leading) {
    open();
  } else if (data.who && document.visibilityState === 'visible') {
    tabs.postMessage({tab: me, hello: main.dataset.topic});
  }
  heard(data);
};

// lead holds the lock while this tab is visible.
async function lead(signal) {
  try {
    await navigator.locks.request(tabs.name, {signal}, () => new Promise(done => {
      leading = true;
      open();
      tabs.postMessage({who: true});
      signal.addEventListener('abort', done);
    }));
  } catch {
    // it became hidden before it had the lock
  }
  leading = false;
  source?.close();
}

// moved follows the page to another address, where a script has chosen something else.
function moved() {
  if (topics.get(me) === main.dataset.topic) return;
  topics.set(me, main.dataset.topic);
  if (leading) open(); else tabs.postMessage({tab: me, hello: main.dataset.topic});
}
addEventListener('ebb-refresh', refresh);

let hidden = null;
function show() {
  if (document.visibilityState === 'visible') {
    if (hidden) return;
    hidden = new AbortController();
    tabs.postMessage({tab: me, hello: main.dataset.topic});
    lead(hidden.signal);
  } else {
    hidden?.abort();
    hidden = null;
    tabs.postMessage({bye: me});
    topics.clear();
    topics.set(me, main.dataset.topic);
  }
}

if (main) {
  document.addEventListener('visibilitychange', show);
  addEventListener('pagehide', () => tabs.postMessage({bye: me}));
  setInterval(() => document.visibilityState === 'visible' && !live && refresh(), 5000);
  setInterval(() => document.visibilityState === 'visible' && refresh(), 30000); // ages go on
  show();
}

// Keys: / searches, j and k move, ? lists the keys.
const help = document.querySelector('#keys');
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, [contenteditable]')) return;
  const rows = [...document.querySelectorAll('main tbody a:first-of-type, main .tree a[href], main [role=tree]')];
  const at = rows.indexOf(document.activeElement);
  switch (event.key) {
    case '/': {
      const search = document.querySelector('input[name=filter]');
      if (search) search.focus(); else location.href = 'runs';
      break;
    }
    case 'j': rows[Math.min(at + 1, rows.length - 1)]?.focus(); break;
    case 'k': rows[Math.max(at - 1, 0)]?.focus(); break;
    case '+': case '-': document.querySelector(`main a[href][data-zoom="${event.key}"]`)?.click(); break;
    case '?': if (help.open) help.close(); else help.showModal(); break;
    default: return;
  }
  event.preventDefault();
});
