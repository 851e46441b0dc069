import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import type { SpawnRequest } from '../local/spawn-agent';
import { followHeld, type HeldAgent } from './held-agent';
import { startHolder } from './holder';
import { openInput } from './input';
import { Notices } from './notices';
import { bindingOf, createSpool, exists, removeSpool, unmarkTorn, type Spool } from './spool';

export interface HeldLaunch {
  spoolDir: string;
  /** The document the agent is given, and the secrets in its environment. */
  json: string;
  secrets: readonly string[];
  over: AbortSignal;
  limitBytes: number;
}

/** Starts an agent that outlives this process. @throws the system's error when it cannot be started */
export async function launchHeld(request: SpawnRequest, launch: HeldLaunch): Promise<HeldAgent> {
  const { spoolDir, over, limitBytes } = launch;
  const spool = await createSpool(spoolDir, bindingOf(launch.json, launch.secrets));
  const notices = new Notices(spool.path);
  try {
    const { identity, child } = await startHolder(spool, request, limitBytes);
    const gone = new AbortController();
    child.once('exit', () => {
      gone.abort();
      notices.tell();
    });
    const input = await firstInput(spool, notices, gone.signal);
    // Of what nobody reads nothing is torn.
    if (!input) unmarkTorn(spool);
    return await followHeld({ spool, identity, input, notices, over, limitBytes });
  } catch (error) {
    notices.close();
    await removeSpool(spoolDir);
    throw error;
  }
}

/** The input once the agent has had it open; nothing when it has closed it by then, or has ended. */
async function firstInput(spool: Spool, notices: Notices, gone: AbortSignal): Promise<Writable | undefined> {
  for (;;) {
    const changed = notices.next(basename(spool.begun));
    if (gone.aborted || (await exists(spool.begun))) return openInput(spool, true);
    await changed;
  }
}
