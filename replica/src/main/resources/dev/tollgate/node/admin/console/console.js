/** The console: takes the events of a node, shows them, and sends releases after a confirmation. */
import {startTheme} from './theme.js';
import {element, plural, visible, visibleText} from './text.js';
import {showLeases, showLocks, showMembers, showRefusedWrites, tick} from './views.js';

const STALE_MILLIS = 15000;
const RETRY_MILLIS = 5000;
const TYPING_MILLIS = 300;

const byId = id => document.getElementById(id);
let source = null;
let last = null;
let arrived = 0;
let firstRefused = null;
let typing = 0;
let retry = 0;
let lost = null;

/** The time on the node's clock: the clock of the browser may be wrong. */
function nodeTime() {
  return last === null ? 0 : last.timeMillis + (performance.now() - arrived);
}

function search() {
  return byId('lock').value;
}

function say(text) {
  byId('message').textContent = text;
}

function setLive(state, text) {
  const live = byId('live');
  live.dataset.state = state;
  if (live.textContent !== text) {
    live.textContent = text;
  }
}

function problems(state) {
  const found = [...state.node.obstacles];
  if (!state.node.leading) {
    found.push(state.node.leader === null
      ? 'This node knows no leader: what it shows may be old.'
      : `This node is not the leader. Time left of leases, lags and releases are in the console of node ${visibleText(state.node.leader)}.`);
  }
  const box = byId('problems');
  const text = found.join('\n');
  if (box.dataset.text !== text) {
    box.dataset.text = text;
    box.replaceChildren(...found.map(line => element('div', '', visible(line))));
    box.hidden = found.length === 0;
  }
}

function show(state) {
  if (firstRefused === null) {
    firstRefused = new Map(state.refusedWrites.map(row => [row.table, row.count]));
  }
  last = state;
  arrived = performance.now();
  byId('where').replaceChildren('Node ', visible(state.node.id), ' · version ', visible(state.node.version),
    ' · ', state.viewer.user === null ? 'no login' : visible(state.viewer.user),
    state.viewer.administrator ? ' (administrator)' : '');
  problems(state);
  showMembers(state);
  showLocks(state, search(), ask);
  showLeases(state);
  showRefusedWrites(state, firstRefused);
  lost = null;
  setLive('live', 'Live');
  tick(nodeTime());
}

function disconnect() {
  clearTimeout(retry);
  source?.close();
  source = null;
}

function connect() {
  disconnect();
  const text = search();
  source = new EventSource('/console/events' + (text ? '?lock=' + encodeURIComponent(text) : ''));
  const opened = source;
  opened.addEventListener('state', event => show(JSON.parse(event.data)));
  opened.addEventListener('refused', event => {
    disconnect();
    lost = event.data;
    setLive('lost', 'Not live: ' + event.data);
    retry = setTimeout(connect, RETRY_MILLIS);
  });
  opened.addEventListener('error', () => {
    lost = 'connection lost';
    setLive('lost', 'Not live: connection lost');
    if (opened.readyState === EventSource.CLOSED && source === opened) {
      disconnect(); // an answer that is no stream: the browser does not try again by itself
      retry = setTimeout(connect, RETRY_MILLIS);
    }
  });
}

/** Asks before a release; the dialog names what the page shows at this moment. */
function ask(what, lock, hold) {
  const forced = what === 'force-release';
  const dialog = byId('confirm');
  const title = forced ? 'Force release of ' : 'Release ';
  byId('confirm-title').replaceChildren(title, visible(lock.name), '?');
  byId('confirm-text').replaceChildren(
    element('p', '', 'It is held under token ', element('span', 'code', String(hold.token)), ' by ',
      visible(hold.owner || 'no name'), ', lease ' + hold.lease,
      forced && lock.holders > 1 ? ', and by ' + plural(lock.holders - 1, 'other holder', 'other holders') : '', '.'),
    element('p', '', forced
      ? 'All holders lose the lock at once, and the next waiting requests get it. Fenced tables refuse further writes of the'
        + ' former holders; what else they do, nobody stops.'
      : 'The lock is released for this lease, as if its holder had released it. The lease and its other locks stay.'));
  const box = byId('confirm-box');
  box.checked = false;
  const yes = byId('confirm-yes');
  yes.textContent = forced ? 'Force release' : 'Release';
  yes.disabled = true;
  box.onchange = () => { yes.disabled = !box.checked; };
  byId('confirm-no').onclick = () => dialog.close();
  yes.onclick = () => {
    dialog.close();
    send(what, lock, hold);
  };
  dialog.showModal();
  byId('confirm-no').focus();
}

async function send(what, lock, hold) {
  say('Releasing …');
  try {
    const answer = await fetch('/console/' + what, {
      method: 'POST',
      headers: {'Content-Type': 'application/x-www-form-urlencoded', 'X-Tollgate-Console': '1'},
      body: new URLSearchParams({lock: lock.name, lease: String(hold.lease), token: String(hold.token)})
    });
    byId('message').replaceChildren(visible((await answer.text()).trim()));
  } catch {
    say('The node did not answer: it is unknown whether the lock was released.');
  }
}

function start() {
  startTheme();
  byId('search').addEventListener('submit', event => {
    event.preventDefault();
    connect();
  });
  byId('lock').addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(connect, TYPING_MILLIS);
  });
  document.addEventListener('keydown', event => {
    const field = event.target instanceof HTMLInputElement;
    if (event.key === '/' && !field && !byId('confirm').open) {
      event.preventDefault();
      byId('lock').focus();
    }
  });
  // a page in the background takes nothing of the node
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      disconnect();
      setLive('waiting', 'Paused while in the background');
    } else {
      connect();
    }
  });
  setInterval(() => {
    if (last !== null) {
      tick(nodeTime());
      if (lost === null && source !== null && performance.now() - arrived > STALE_MILLIS) {
        setLive('waiting', 'The node is busy: this is how it was before');
      }
    }
  }, 1000);
  connect();
}

start();
