/** A process that claims data directories, `claimant.ts`: it prints `ready`, claims each line of its input, and prints `claimed` or the name of the error. */
import { createInterface } from 'node:readline';
import { claimDataDirectory } from '../../../platform/processes/data-directory';

const print = (line: string) => process.stdout.write(`${line}\n`);

createInterface({ input: process.stdin }).on('line', (dataDir) => {
  claimDataDirectory(dataDir).then(
    () => print('claimed'),
    (error: unknown) => print((error as Error).name),
  );
});
print('ready');
