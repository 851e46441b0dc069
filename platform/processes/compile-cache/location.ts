import { join } from 'node:path';

/** The directory that `dist/` is in, with the packages beside it. */
export const root = join(__dirname, '..', '..', '..', '..');

/** The directory of compiled code, inside `dist/`: only the user who builds the service writes to it. */
export const cacheDirectory = join(__dirname, '..', '..', '..', '.compile-cache');

/** Of the Node that runs: data of another V8 is refused by it. */
export const cachePath = join(cacheDirectory, `${process.version}-${process.arch}.bin`);

/** npm's list of the installed packages: with another one, recorded requests of packages are not used. */
export const installedPath = join(root, 'node_modules', '.package-lock.json');
