import { closeSync, readFileSync } from 'node:fs';
import { baseEnvironment, isSystemVariable } from './base-environment';

/** Names the file descriptor that a process of the service reads its variables from. */
const descriptorVariable = 'RUNBOARD_ENVIRONMENT_FD';
/** Names what only the process itself is started with, and nothing that it starts, separated by commas. */
const ownVariables = 'RUNBOARD_OWN_VARIABLES';
/**
 * How the C library keeps memory that is freed, unless the operator sets it. It has eight heaps for each processor by default; two
 * save a worker a tenth of its memory. Blocks of 128 KB and more are returned to the system, always: the library raises that
 * limit with each larger block, and then keeps what a start has left.
 */
const allocation = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/** After standard input, output, error and the message channel. */
export const environmentDescriptor = 4;

export interface HandedEnvironment {
  /** What a process is started with: on Linux every process of its user can read it for as long as it runs. */
  initial: NodeJS.ProcessEnv;
  /** What it reads from its descriptor: JSON. */
  handed: string;
}

/** Splits the environment of a process: all that may be a secret is passed by a descriptor. */
export function handOver(environment: NodeJS.ProcessEnv): HandedEnvironment {
  const rest = Object.entries(environment).filter(([name, value]) => value !== undefined && !isSystemVariable(name));
  const own = Object.entries(allocation).filter(([name]) => environment[name] === undefined);
  return {
    initial: {
      ...Object.fromEntries(own),
      ...baseEnvironment(environment),
      [descriptorVariable]: String(environmentDescriptor),
    },
    handed: JSON.stringify({ ...Object.fromEntries(rest), [ownVariables]: own.map(([name]) => name).join() }),
  };
}

/**
 * Reads the variables that this process's supervisor passes, if there is one, and waits for them. Called once, before settings
 * are read. Ends the process when its supervisor has gone instead.
 */
export function receiveEnvironment(): void {
  const { [descriptorVariable]: descriptor } = process.env;
  if (descriptor === undefined) {
    return;
  }
  Reflect.deleteProperty(process.env, descriptorVariable);
  const handed = readFileSync(Number(descriptor), 'utf8');
  closeSync(Number(descriptor));
  if (handed === '') {
    process.exit();
  }
  const { [ownVariables]: own = '', ...variables } = JSON.parse(handed) as Record<string, string>;
  for (const name of own.split(',')) {
    Reflect.deleteProperty(process.env, name);
  }
  Object.assign(process.env, variables);
}
