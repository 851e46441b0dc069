import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import type { SpawnRequest } from '../local/spawn-agent';
import { type DetachedAgent, followDetached } from './detached-agent';
import { startHolder } from './holder';
import { openInput } from './input';
import { Notices } from './notices';
import { bindingOf, createSpool, exists, removeSpool, type Spool, unmarkTorn } from './spool';

export interface DetachedLaunch {
  spoolDir: string;
  /** The document the agent is given, and the secrets in its environment. */
  json: string;
  secrets: readonly string[];
  over: AbortSignal;
  limitBytes: number;
}

/** Starts an agent that outlives this process. @throws the system's error when it cannot be started */
export async function launchDetached(request: SpawnRequest, launch: DetachedLaunch): Promise<DetachedAgent> {
  const { spoolDir, over, limitBytes } = launch;
  const spool = await createSpool(spoolDir, bindingOf(launch.json, launch.secrets));
  const notices = new Notices(spool.path);
  try {
    const { identity, child } = await startHolder(spool, request, limitBytes);
    const gone = new AbortController();
    child.once('exit', () => {
      gone.abort();
      notices.notify();
    });
    const input = await firstInput(spool, notices, gone.signal);
    // An input without a reader cannot be torn.
    if (!input) {
      unmarkTorn(spool);
    }
    return await followDetached({ spool, identity, input, notices, over, limitBytes });
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
    if (gone.aborted || (await exists(spool.begun))) {
      return openInput(spool, true);
    }
    await changed;
  }
}
