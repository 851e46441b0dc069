import {
  identify,
  isOfThisBoot,
  isSameProcess,
  type ProcessIdentity,
  startedWith,
} from '../../../platform/processes/identity';
import { attemptVariable } from '../local/end-attempt';
import type { ReattachRefusal } from '../provider';
import { type DetachedAgent, followDetached } from './detached-agent';
import { readExit } from './holder';
import { openInput } from './input';
import { Notices } from './notices';
import { bindingOf, exists, readIfThere, type RecordedExit, type Spool, spoolIn } from './spool';

export interface DetachedSearch {
  attemptId: string;
  spoolDir: string;
  /** The holder, as it was recorded. */
  identity: ProcessIdentity;
  json: string;
  secrets: readonly string[];
  over: AbortSignal;
  limitBytes: number;
}

/** Adopts an agent that another process has started, if it is that agent, or has ended as such. */
export async function findDetached(search: DetachedSearch): Promise<DetachedAgent | { refused: ReattachRefusal }> {
  const { attemptId, spoolDir, identity, over, limitBytes } = search;
  const spool = spoolIn(spoolDir);
  const refused = await refusalOf(spool, search);
  if (refused) {
    return { refused };
  }
  const state = await stateOf(spool, attemptId, identity);
  if ('refused' in state) {
    return state;
  }
  const input = state.exit ? undefined : await openInput(spool, false);
  return followDetached({ spool, identity, input, notices: new Notices(spoolDir), over, limitBytes, ...state });
}

async function refusalOf(spool: Spool, { json, secrets }: DetachedSearch): Promise<ReattachRefusal | undefined> {
  if (!(await exists(spool.path))) {
    return 'supervisor-record-missing';
  }
  const binding = await readIfThere(spool.binding);
  if (binding === undefined) {
    return 'process-exited';
  }
  if (binding !== bindingOf(json, secrets)) {
    return 'binding-mismatch';
  }
  return (await exists(spool.torn)) ? 'in-process-state-lost' : undefined;
}

/** What a power cut has left of a spool may be less than was written: only an end of this boot counts. */
async function stateOf(
  spool: Spool,
  attemptId: string,
  identity: ProcessIdentity,
): Promise<{ exit?: RecordedExit } | { refused: ReattachRefusal }> {
  if (!isOfThisBoot(identity)) {
    return { refused: 'process-not-found' };
  }
  // In this order: a holder that ends meanwhile has written its exit before.
  const isThere = await isSameProcess(identity);
  const exit = await readExit(spool);
  if (exit) {
    return { exit };
  }
  if (!isThere) {
    return { refused: (await identify(identity.pid)) ? 'process-identity-mismatch' : 'process-not-found' };
  }
  const isOurs = startedWith(identity.pid, attemptVariable, attemptId);
  if (isOurs) {
    return {};
  }
  // It may have ended while it was inspected.
  const last = await readExit(spool);
  if (last) {
    return { exit: last };
  }
  return { refused: isOurs === false ? 'process-identity-mismatch' : 'process-identity-unverifiable' };
}
