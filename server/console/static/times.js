
// Times as the reader chose: as the page says, local, in UTC, or relative. The browser remembers the choice.
const choice = document.querySelector('select[data-times]');

function timeText(at) {
  switch (choice.value) {
    case 'local': return new Date(at).toLocaleString(document.documentElement.lang);
    case 'utc': return at.replace('T', ' ').replace('Z', ' UTC');
    case 'relative': {
      const seconds = (new Date(at) - Date.now()) / 1000;
      const [unit, of] = [['day', 86400], ['hour', 3600], ['minute', 60]].find(u => Math.abs(seconds) >= u[1]) ?? ['second', 1];
      return new Intl.RelativeTimeFormat(document.documentElement.lang).format(Math.trunc(seconds / of), unit);
    }
    default: return null;
  }
}

// showTimes writes the times in a part of the page as the reader chose.
function showTimes(part) {
  for (const time of part.querySelectorAll('time[datetime]')) {
    time.dataset.written ??= time.textContent;
    time.textContent = timeText(time.getAttribute('datetime')) ?? time.dataset.written;
  }
}

if (choice) {
  const kept = localStorage.getItem('ebb times');
  if (kept && choice.querySelector(`option[value=${CSS.escape(kept)}]`)) choice.value = kept;
  choice.hidden = false;
  choice.addEventListener('change', () => {
    localStorage.setItem('ebb times', choice.value);
    showTimes(document);
  });
  showTimes(document);
}

// Countdowns: how long it is until a time.
setInterval(() => {
  for (const part of document.querySelectorAll('[data-until]')) {
    const seconds = Math.ceil((new Date(part.dataset.until) - Date.now()) / 1000);
    const [unit, of] = [['day', 86400], ['hour', 3600], ['minute', 60]].find(u => seconds >= 2 * u[1]) ?? ['second', 1];
    const text = seconds > 0 ? new Intl.RelativeTimeFormat(document.documentElement.lang).format(Math.floor(seconds / of), unit) : '';
    if (part.textContent !== text) part.textContent = text;
  }
}, 1000);

// Values: a button copies one, and a field marks a text in all of them.
document.documentElement.classList.add('scripts');
addEventListener('click', event => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const value = button.parentElement.querySelector('.json, pre');
  getSelection().selectAllChildren(value); // also where the browser does not let a page write to the clipboard
  navigator.clipboard?.writeText(value.textContent).catch(() => {});
});
addEventListener('input', event => {
  if (!event.target.matches('[data-search]') || !window.Highlight) return;
  const wanted = event.target.value.toLowerCase(), found = [];
  const texts = document.createTreeWalker(event.target.closest('aside'), NodeFilter.SHOW_TEXT);
  while (wanted && texts.nextNode() && found.length < 500) {
    const part = texts.currentNode;
    if (!part.parentElement.closest('.json, pre')) continue;
    for (let at = part.data.toLowerCase().indexOf(wanted); at >= 0; at = part.data.toLowerCase().indexOf(wanted, at + 1)) {
      const range = new Range();
      range.setStart(part, at);
      range.setEnd(part, Math.min(at + wanted.length, part.data.length));
      found.push(range);
    }
    for (let d = part.parentElement.closest('details'); d && found.length > 0; d = d.parentElement.closest('details')) {
      if (found.at(-1).startContainer === part) d.open = true;
    }
  }
  CSS.highlights.set('found', new Highlight(...found));
});
