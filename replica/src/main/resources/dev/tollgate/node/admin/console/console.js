/** The console: takes the events of a node, and shows them. */
import {startTheme} from './theme.js';
import {duration, visibleText} from './text.js';
import {setText} from './lists.js';
import {deadlines, tick} from './times.js';
import {showLocks} from './locks.js';
import {showLeases, showMembers, showNode, showProblems, showRefusedWrites, showTotals} from './views.js';
import {ask, checkQuestion, startConfirm} from './confirm.js';
import {check, follow, pause, startLink} from './link.js';

const TYPING_MILLIS = 250;
const LIVE = 'live';
const WAITING = 'waiting';
const LOST = 'lost';

const byId = id => document.getElementById(id);
let last = null;
let ends = new Map();
let arrived = 0;
let firstRefused = null;
let typing = 0;

/** The time on the node's clock: the clock of the browser may be wrong. */
function nodeTime() {
  return last.timeMillis + (performance.now() - arrived);
}

function setLink(link, text) {
  document.body.dataset.link = link;
  setText(byId('live'), text);
  for (const button of document.querySelectorAll('#lock-table button')) {
    button.disabled = link === LOST;
  }
}

function show(state) {
  firstRefused ??= new Map(state.refusedWrites.map(row => [row.table, row.count]));
  last = state;
  arrived = performance.now();
  ends = deadlines(state);
  showNode(state);
  showProblems(state);
  showMembers(state);
  showTotals(state);
  showLocks(state, state.search, ask, clearSearch);
  showLeases(state);
  showRefusedWrites(state, firstRefused);
  checkQuestion(state);
  byId('stale').hidden = true;
  setText(byId('stale-text'), '');
  setLink(LIVE, 'Live');
  tick(nodeTime(), ends);
}

/** Says that what the page shows is old, and how old; times stand still. */
function freeze(text) {
  byId('stale').hidden = false;
  setText(byId('stale-text'), text);
  setText(byId('stale-age'), last === null ? 'The page tries again every few seconds.'
    : `What is shown below was so ${duration(performance.now() - arrived)} ago. The page tries again every few seconds.`);
}

function lost(why) {
  setLink(LOST, why === null ? 'Not reachable' : 'Not live');
  const node = last === null ? 'The node' : visibleText(last.node.id);
  freeze(why === null ? `${node} does not answer.`
    : why === '' ? `The stream of ${node} broke off.` : `${node} refuses to keep this page up to date: ${visibleText(why)}.`);
}

function late(answers) {
  const node = visibleText(last?.node.id ?? 'The node');
  setLink(WAITING, 'Waiting');
  freeze(answers ? `${node} answers, but is busy with a long entry of its log.` : `${node} is late with its next answer.`);
}

function clearSearch() {
  byId('lock').value = '';
  startSearch();
  byId('lock').focus();
}

/** The address of the page has the search, so that it can be kept and sent. */
function startSearch() {
  clearTimeout(typing);
  const text = byId('lock').value;
  history.replaceState(null, '', text ? '#lock=' + encodeURIComponent(text) : location.pathname);
  follow(text);
}

function searchOfAddress() {
  try {
    return decodeURIComponent(location.hash.replace(/^#lock=/, '')).slice(0, byId('lock').maxLength);
  } catch {
    return '';
  }
}

function startKeys() {
  document.addEventListener('keydown', event => {
    const writes = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === '/' && !writes && !byId('confirm').open && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      byId('lock').focus();
      byId('lock').select();
    }
  });
}

function start() {
  startTheme();
  startConfirm();
  startKeys();
  startLink({state: show, lost, late});
  byId('lock').value = location.hash.startsWith('#lock=') ? searchOfAddress() : '';
  byId('search').addEventListener('submit', event => {
    event.preventDefault();
    startSearch();
  });
  byId('lock').addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(startSearch, TYPING_MILLIS);
  });
  // a page in the background takes nothing of the node
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      pause();
      setLink(WAITING, 'Paused');
    } else {
      setLink(WAITING, 'Connecting');
      follow(byId('lock').value);
    }
  });
  setInterval(() => {
    check();
    const link = document.body.dataset.link;
    if (last !== null && link === LIVE) {
      tick(nodeTime(), ends);
    } else if (last !== null && link === LOST) {
      freeze(byId('stale-text').textContent);
    }
  }, 1000);
  follow(byId('lock').value);
}

start();
