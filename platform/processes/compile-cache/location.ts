import { join, relative } from 'node:path';

/** The directory that `dist/` is in, with the packages beside it. */
const root = join(__dirname, '..', '..', '..', '..');

/** The directory of compiled code, inside `dist/`: only the user who builds the service writes to it. */
export const cacheDirectory = join(__dirname, '..', '..', '..', '.compile-cache');

/** Of the Node that runs: data of another V8 is refused by it. */
export const cachePath = join(cacheDirectory, `${process.version}-${process.arch}.bin`);

/** The name of a module, which is the same wherever the whole directory is moved. */
export const moduleName = (filename: string): string => relative(root, filename);
