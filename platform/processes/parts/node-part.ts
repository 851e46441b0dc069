import { existsSync } from 'node:fs';
import { type Child, launch, type LaunchOptions } from '../child';
import { compiledScript } from '../compiled-script';
import { handOver } from '../environment/handed-environment';
import { umaskEnvironment } from '../operator-umask';
import { readyMessage } from './lifecycle';
import type { Part } from './part';

export interface NodePart extends Part {
  /** Whether the process that runs now has called `announceReady()`. */
  isReady(): boolean;
  /**
   * Starts its process ahead of `start()`: it loads its code meanwhile, and then waits for its environment.
   *
   * @returns its process id
   */
  prepare(): Promise<number>;
  /** Ends a process that was prepared and not started. */
  discard(): Promise<void>;
}

export interface NodePartOptions {
  name: string;
  /** Absolute path of the compiled entry point. */
  script: string;
  /**
   * The whole environment of the process, of which `/proc` shows only what is no secret. Read at each start: other parts may be
   * unknown earlier.
   */
  environment: () => NodeJS.ProcessEnv;
  /** What of it is known before other parts run: all that is no setting of the service. For `prepare`. */
  system?: NodeJS.ProcessEnv;
  output: LaunchOptions['output'];
}

/** Before anything else in the process and in each of its threads. */
const preloaded = compiledScript(__dirname, 'preload.js');

interface Waiting {
  child: Child;
  hand: (environment: string) => void;
  hasEnded: boolean;
}

/**
 * A part that is a Node program of the service. It is connected by a message channel, through which it reports that it is ready
 * and notices that its supervisor is gone, even one that was killed.
 */
export function nodePart({ name, script, environment, system = {}, output }: NodePartOptions): NodePart {
  let readyAt: number | undefined;
  let prepared: Waiting | undefined;

  const launchPart = async (initial: NodeJS.ProcessEnv, handed: Promise<string>): Promise<Child> => {
    const preload = existsSync(preloaded) ? ['--require', preloaded] : [];
    const child = await launch(process.execPath, ['--enable-source-maps', ...preload, script], {
      environment: { ...initial, ...umaskEnvironment() },
      output,
      channel: true,
      handed,
    });
    child.process.on('message', (message) => {
      if (message === readyMessage) {
        readyAt = performance.now();
      }
    });
    return child;
  };

  const takePrepared = (): Waiting | undefined => {
    const waiting = prepared;
    prepared = undefined;
    return waiting?.hasEnded === true ? undefined : waiting;
  };

  return {
    name,
    isReady: () => readyAt !== undefined,
    prepare: async () => {
      let hand: Waiting['hand'] = () => undefined;
      const handed = new Promise<string>((resolve) => (hand = resolve));
      const child = await launchPart(handOver(system).initial, handed);
      const waiting: Waiting = { child, hand, hasEnded: false };
      void child.exited.then(() => (waiting.hasEnded = true));
      prepared = waiting;
      return child.pid;
    },
    discard: async () => takePrepared()?.child.stop(0),
    start: async () => {
      readyAt = undefined;
      const { initial, handed } = handOver(environment());
      const waiting = takePrepared();
      waiting?.hand(handed);
      const child = waiting?.child ?? (await launchPart(initial, Promise.resolve(handed)));
      return { ...child, servingSince: () => readyAt };
    },
  };
}
