import { closeSync, readFileSync } from 'node:fs';
import { baseEnvironment, isSystemVariable } from './base-environment';

/** Names the file descriptor that a process of the service reads its variables from. */
const descriptorVariable = 'RUNBOARD_ENVIRONMENT_FD';
/** Names what only the process itself is started with, and nothing that it starts. */
const ownVariable = 'RUNBOARD_OWN_VARIABLE';
/**
 * How many heaps the C library has for the threads of a process: by default eight for each processor, of which each keeps what
 * its threads have freed. Two instead save a worker a tenth of its memory.
 */
const heaps = { name: 'MALLOC_ARENA_MAX', value: '2' } as const;

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
  const ownHeaps = environment[heaps.name] === undefined;
  return {
    initial: {
      ...(ownHeaps ? { [heaps.name]: heaps.value } : {}),
      ...baseEnvironment(environment),
      [descriptorVariable]: String(environmentDescriptor),
    },
    handed: JSON.stringify({ ...Object.fromEntries(rest), ...(ownHeaps ? { [ownVariable]: heaps.name } : {}) }),
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
  const { [ownVariable]: own, ...variables } = JSON.parse(handed) as Record<string, string>;
  if (own !== undefined) {
    Reflect.deleteProperty(process.env, own);
  }
  Object.assign(process.env, variables);
}
