import type { Log } from '../log/log';
import { dryRunCatalog, readCatalog } from './catalog';
import { createModels, type Models } from './models';

interface ModelSettings {
  /** The file of the catalog; the catalog of the dry run when absent. */
  path: string | undefined;
  /** No model is called. */
  dryRun: boolean;
}

/**
 * The models of a process by its settings. Keys are read from the environment when they are needed, and stored
 * nowhere.
 *
 * @throws CatalogError with all that is wrong with the catalog's file
 */
export async function openModels({ path, dryRun }: ModelSettings, log: Log): Promise<Models> {
  const catalog = path === undefined ? dryRunCatalog : await readCatalog(path);
  const keyOf = (name: string): string | undefined => process.env[name];
  const variables = catalog.flatMap(({ provider }) =>
    provider.kind !== 'dry-run' && provider.api_key_env !== undefined ? [provider.api_key_env] : [],
  );
  const missing = [...new Set(variables)].filter((name) => !keyOf(name));
  if (missing.length > 0 && !dryRun) {
    log.warn({ missing }, 'model provider keys missing: their calls will fail');
  }
  return createModels({ catalog, keyOf, dryRun });
}
