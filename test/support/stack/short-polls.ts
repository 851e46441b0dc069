import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findTemporalBinary } from '../../../platform/temporal/embedded/binary';

/**
 * The environment of a service whose Temporal server ends idle polls after five seconds instead of a minute: for as long
 * it hands tasks to the polls that a paused worker has open, and each of them is lost until its timeout.
 *
 * @param dir where a command line of the server is put with that setting
 */
export async function shortPolls(dir: string): Promise<{ PATH: string }> {
  const bin = join(dir, 'short-polls');
  const binary = await findTemporalBinary();
  const setting = `matching.longPollExpirationInterval="5s"`;
  await mkdir(bin);
  const script = `#!/bin/sh\nexec '${binary}' "$@" --dynamic-config-value '${setting}'\n`;
  await writeFile(join(bin, 'temporal'), script, { mode: 0o755 });
  return { PATH: `${bin}:${process.env.PATH ?? ''}` };
}
