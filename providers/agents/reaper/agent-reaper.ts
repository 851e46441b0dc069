import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { compact } from '../../../platform/json/compact';
import { compiledScript } from '../../../platform/processes/compiled-script';
import { baseEnvironment } from '../../../platform/processes/environment/base-environment';
import type { ProcessIdentity, ProcessMarker } from '../../../platform/processes/identity';
import type { ReaperMessage } from './reaper-process';

/** One agent that ends with this process. */
export interface ReaperGuard {
  /** Names its process, for systems where processes show no environment. */
  started(identity: ProcessIdentity): void;
  /** The agent has ended with everything it started. */
  release(): void;
}

type Helper = ChildProcessByStdio<Writable, null, null>;

interface Guarded {
  marker: ProcessMarker;
  identity?: ProcessIdentity;
}

/** The pause before a reaper that ended by itself is started again, in milliseconds. */
const restartMs = 1_000;

/**
 * Ends the agents of this process when this process ends, however it does (`kill -9`, out of memory): a small process of a
 * session of its own waits for the end of a pipe that only this process holds, and then ends whatever carries the marker
 * of a guarded agent in its environment, or is its process or in its group. It is started with the first agent.
 */
export class AgentReaper {
  private readonly guarded = new Map<string, Guarded>();
  private helper: Promise<Helper> | undefined;
  private child: Helper | undefined;

  /**
   * To be awaited before the agent is started: a worker that dies right after the spawn has reported what to end. While it
   * spawns, the child holds the pipe too, so that the reaper does not look before the agent has its environment.
   *
   * @param marker a variable that only this agent has in its environment
   * @throws Error when no reaper can be started: the agent is not started either
   */
  async guard(marker: ProcessMarker): Promise<ReaperGuard> {
    const key = `${marker.name}=${marker.value}`;
    const guarded: Guarded = { marker };
    this.guarded.set(key, guarded);
    try {
      await this.send({ guard: marker });
    } catch {
      // It may have been killed a moment ago; the next one knows of everything that is guarded.
      await this.send({ guard: marker }).catch((error: unknown) => {
        this.guarded.delete(key);
        throw new Error('the process that ends agents with their worker cannot be started', { cause: error });
      });
    }
    const sendIfThere = (message: ReaperMessage): void => void this.send(message).catch(() => undefined);
    return {
      started: (identity) => {
        guarded.identity = identity;
        sendIfThere({ guard: marker, identity });
      },
      release: () => {
        if (this.guarded.delete(key)) {
          sendIfThere({ release: marker });
        }
      },
    };
  }

  /** The process of the reaper, once there is one. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  private async send(message: ReaperMessage): Promise<void> {
    await written(await this.started(), message);
  }

  private started(): Promise<Helper> {
    this.helper ??= this.start().catch((error: unknown) => {
      this.helper = undefined;
      throw error;
    });
    return this.helper;
  }

  private async start(): Promise<Helper> {
    const child = spawn(process.execPath, [compiledScript(__dirname, 'reaper-process.js')], {
      // Its own session: what ends this process's group or terminal does not end it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: baseEnvironment(process.env),
    });
    if (child.pid === undefined) {
      throw (await once(child, 'error'))[0] as Error;
    }
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined);
    child.once('exit', () => this.restart(child));
    // An idle reaper does not hinder a process from ending.
    child.unref();
    this.child = child;
    for (const { marker, identity } of this.guarded.values()) {
      await written(child, { guard: marker, ...compact({ identity }) });
    }
    return child;
  }

  private restart(child: Helper): void {
    if (this.child !== child) {
      return;
    }
    this.child = undefined;
    this.helper = undefined;
    const again = () => {
      if (this.guarded.size > 0) {
        this.started().catch(() => setTimeout(again, restartMs).unref());
      }
    };
    setTimeout(again, restartMs).unref();
  }
}

/** The reaper of this process. */
export const agentReaper = new AgentReaper();

/** Resolves when the message is in the pipe. @throws Error when the reaper has ended */
function written({ stdin }: Helper, message: ReaperMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!stdin.writable) {
      return reject(new Error('the reaper has ended'));
    }
    stdin.write(`${JSON.stringify(message)}\n`, (error) => {
      if (error) {
        reject(error);
      } else {
        resolve();
      }
    });
  });
}
