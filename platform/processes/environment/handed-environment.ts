import { closeSync, readFileSync } from 'node:fs';
import { baseEnvironment, isSystemVariable } from './base-environment';

/** Names the file descriptor that a process of the service reads its variables from. */
const descriptorVariable = 'RUNBOARD_ENVIRONMENT_FD';
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
  return {
    initial: { ...baseEnvironment(environment), [descriptorVariable]: String(environmentDescriptor) },
    handed: JSON.stringify(Object.fromEntries(rest)),
  };
}

/** Reads the variables that this process's supervisor has passed, if there is one. Called once, before settings are read. */
export function receiveEnvironment(): void {
  const { [descriptorVariable]: descriptor } = process.env;
  if (descriptor === undefined) {
    return;
  }
  Reflect.deleteProperty(process.env, descriptorVariable);
  const handed = JSON.parse(readFileSync(Number(descriptor), 'utf8')) as Record<string, string>;
  closeSync(Number(descriptor));
  Object.assign(process.env, handed);
}
