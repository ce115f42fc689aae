/** Asks before a release, and sends it. */
import {element, facts, grouped, plural, visible} from './text.js';
import {address} from './link.js';
import {ownerOf} from './locks.js';

const byId = id => document.getElementById(id);
let asked = null;

function explain(forced, lock) {
  if (!forced) {
    return 'The lock is released for this lease, as if its holder had released it. The lease and its other locks stay.';
  }
  const all = lock.holders > 1 ? `All ${grouped(lock.holders)} holders lose` : 'The holder loses';
  return `${all} the lock at once, and the next waiting request gets it. Fenced tables refuse further writes of`
    + ' the former holder. Nothing stops what the holder does elsewhere.';
}

/** Opens the dialog, which names what the page shows at this moment. */
export function ask(what, lock, hold) {
  const forced = what === 'force-release';
  asked = {what, lock, hold};
  byId('confirm-title').replaceChildren(forced ? 'Force release of this lock?' : 'Release this lock?');
  byId('confirm-text').replaceChildren(
    facts([
      ['Lock', element('span', 'code', visible(lock.name))],
      ['Holder', visible(ownerOf(hold))],
      ['', lock.holders > 1 && forced ? 'and ' + plural(lock.holders - 1, 'other', 'others') : ''],
      ['Token', element('span', 'code', grouped(hold.token))],
      ['Lease', hold.lease],
      ['Waiting', plural(lock.waiters, 'request', 'requests')]]),
    element('p', '', explain(forced, lock)));
  byId('confirm-gone').textContent = '';
  byId('confirm-box').checked = false;
  byId('confirm-box').disabled = false;
  const yes = byId('confirm-yes');
  yes.textContent = forced ? 'Force release' : 'Release';
  yes.disabled = true;
  byId('confirm').showModal();
  byId('confirm-no').focus();
}

/** Takes the question back if the hold that it names has ended. */
export function checkQuestion(state) {
  if (asked === null || !byId('confirm').open || byId('confirm-gone').textContent) {
    return;
  }
  const lock = state.locks.find(other => other.name === asked.lock.name);
  const holders = lock?.holders ?? 0;
  const there = lock?.holds.some(hold => hold.token === asked.hold.token && hold.lease === asked.hold.lease);
  // a lock or a hold beyond what is shown may still be there: the node decides
  const unknown = (lock === undefined && state.matchingLocks > state.locks.length) || holders > (lock?.holds.length ?? 0);
  if (!state.viewer.mayChange) {
    withdraw('This node takes no releases any more: it is not the leader, or you may not release locks of others.');
  } else if (!there && !unknown) {
    withdraw('This hold has just ended. There is nothing to release.');
  }
}

function withdraw(why) {
  byId('confirm-gone').textContent = why;
  byId('confirm-yes').disabled = true;
  byId('confirm-box').disabled = true;
  if (!byId('confirm').contains(document.activeElement) || document.activeElement === document.body) {
    byId('confirm-no').focus();
  }
}

function say(failed, ...parts) {
  byId('message').classList.toggle('failed', failed);
  byId('message').hidden = false;
  byId('message-text').replaceChildren(...parts);
}

async function send({what, lock, hold}) {
  say(false, 'Releasing …');
  try {
    const answer = await fetch(address('/console/' + what), {
      method: 'POST',
      headers: {'Content-Type': 'application/x-www-form-urlencoded', 'X-Tollgate-Console': '1'},
      body: new URLSearchParams({lock: lock.name, lease: hold.lease, token: hold.token})
    });
    const text = (await answer.text()).trim();
    say(!answer.ok, visible(text.charAt(0).toUpperCase() + text.slice(1)));
  } catch {
    say(true, 'The node did not answer. It is unknown whether the lock was released.');
  }
}

export function startConfirm() {
  byId('confirm-box').addEventListener('change', () => {
    byId('confirm-yes').disabled = !byId('confirm-box').checked;
  });
  byId('confirm-no').addEventListener('click', () => byId('confirm').close());
  byId('confirm-yes').addEventListener('click', () => {
    const question = asked;
    byId('confirm').close();
    send(question);
  });
  byId('confirm').addEventListener('close', () => { asked = null; });
  byId('message-close').addEventListener('click', () => { byId('message').hidden = true; });
}
