import type { Program } from '../../../platform/processes/programs/program';
import { programRunner } from '../../../platform/processes/programs/program-runner';

const run = programRunner();

/**
 * Runs a program as the service does, which is cheaper than to start it from a process as large as a worker of jest.
 *
 * @returns what it printed
 * @throws Error with what it complained about when it fails
 */
export async function programOutput(
  program: Pick<Program, 'file' | 'args' | 'cwd' | 'env'> & { timeoutMs?: number },
): Promise<string> {
  const end = await run({ timeoutMs: 120_000, maxOutputBytes: 64 * 1_048_576, ...program });
  if (end.exitCode === 0) {
    return end.stdout;
  }
  const { file, args } = program;
  throw new Error(`${file} ${args.join(' ')}: ${end.failure ?? end.exitCode}\n${end.stderr}`);
}
