import { receiveEnvironment } from '../processes/environment/handed-environment';
import { EnvironmentError, readEnvironment } from './env';
import { type PartEnvironment, type PartName, partSettings } from './part-settings';
import { fileVariable, secretSettings } from './secret-files';

/**
 * Reads the settings of one part from the environment of this process, and removes the secrets from it: no program that
 * this process starts gets one by accident. Prints every problem and exits with code 2 when there is one.
 */
export function environmentOrExit<Part extends PartName>(part: Part): PartEnvironment<Part> {
  receiveEnvironment();
  const names: readonly string[] = partSettings[part];
  for (const setting of secretSettings) {
    if (names.includes(setting) || !(process.env[setting] ?? process.env[fileVariable(setting)])) {
      continue;
    }
    process.stderr.write(`${setting} is not used by the ${part}: remove it from its environment.\n`);
  }
  const settings = orExit(() => readEnvironment(process.env, names));
  for (const setting of secretSettings) {
    Reflect.deleteProperty(process.env, setting);
    Reflect.deleteProperty(process.env, fileVariable(setting));
  }
  return settings;
}

/** What `read` returns; when the environment is wrong, prints why and exits with code 2. */
export function orExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof EnvironmentError)) {
      throw error;
    }
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}
