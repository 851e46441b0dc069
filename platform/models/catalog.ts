import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorMessage } from '../errors/app-error';
import { type Model, model, modelName } from './model';

const providerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'lower-case letters, digits and dashes; starts with a letter');

const baseUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .refine((url) => !URL.parse(url)?.username && !URL.parse(url)?.password, 'must not contain credentials');

const reached = {
  name: providerName,
  base_url: baseUrl,
  /** The environment variable with the key; none for a provider that needs none. */
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, not a key')
    .optional(),
  /** How long one call may take. */
  timeout_secs: z.number().positive().max(3_600).default(600),
  /** `false` for a server that cannot stream its answers. */
  stream: z.boolean().default(true),
};

const provider = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('openai-compatible'), ...reached }),
  z.strictObject({ kind: z.literal('openai'), ...reached }),
  z.strictObject({ kind: z.literal('anthropic'), ...reached }),
  z.strictObject({ kind: z.literal('dry-run'), name: providerName }),
]);
export type Provider = z.infer<typeof provider>;
export type ReachedProvider = Exclude<Provider, { kind: 'dry-run' }>;

const { limits, features, costs } = model.shape;
const noFeatures = { tools: false, vision: false, reasoning: false };

const entry = z.strictObject({
  ...model.shape,
  limits: limits.strict(),
  features: features.strict().partial().default({}),
  costs: costs.strict().default({}),
  aliases: z.array(modelName).max(32).default([]),
  default: z.boolean().default(false),
  /** What its provider calls it, when that is not its id. */
  upstream_id: z.string().min(1).max(256).optional(),
});

const catalogFile = z.strictObject({
  providers: z.array(provider).min(1).max(64),
  models: z.array(entry).min(1).max(1_000),
});

export interface CatalogEntry {
  model: Model;
  upstreamId: string;
  provider: Provider;
}

/** The models of the service in the order of their file. */
export type Catalog = readonly CatalogEntry[];

/** Thrown at start with every problem of the file at once. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';

  constructor(source: string, problems: readonly string[]) {
    super(`The catalog of models (${source}) cannot be used:\n${problems.map((each) => `  - ${each}`).join('\n')}`);
  }
}

/** Ids and aliases of the models of a catalog that are really called. */
export const namesOf = (catalog: Catalog): ReadonlySet<string> =>
  new Set(
    catalog
      .filter(({ provider: { kind } }) => kind !== 'dry-run')
      .flatMap(({ model: { id, aliases } }) => [id, ...aliases]),
  );

/** What the service works with out of the box. */
export const dryRunCatalog: Catalog = [
  {
    model: {
      id: 'dry-run',
      provider: 'dry-run',
      family: 'dry-run',
      display_name: 'Dry run',
      limits: { context_window: 200_000 },
      features: { tools: false, vision: false, reasoning: false },
      costs: {},
      aliases: [],
      default: true,
    },
    upstreamId: 'dry-run',
    provider: { kind: 'dry-run', name: 'dry-run' },
  },
];

/**
 * Reads the file of a catalog: `BOARD_MODELS`, `WORKFLOW_RUNS_MODELS`.
 *
 * @throws CatalogError with all that is wrong with it
 */
export async function readCatalog(path: string): Promise<Catalog> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CatalogError(path, [errorMessage(error)]);
  }
  return parseCatalog(text, path);
}

/**
 * Takes the text of a catalog file. Without a model that is marked as the default one, the first is.
 *
 * @throws CatalogError with all that is wrong with it
 */
export function parseCatalog(text: string, source = 'text'): Catalog {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    throw new CatalogError(source, ['it is not JSON']);
  }
  const parsed = catalogFile.safeParse(json);
  if (!parsed.success) {
    throw new CatalogError(
      source,
      parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'file'}: ${message}`),
    );
  }
  const { providers, models } = parsed.data;
  const byName = new Map(providers.map((each) => [each.name, each]));
  const problems = [
    ...repeated(providers.map(({ name }) => name)).map((name) => `providers: ${name} is listed twice`),
    ...repeated(models.flatMap(({ id, aliases }) => [id, ...aliases])).map((name) => `models: ${name} is listed twice`),
    ...models
      .filter((each) => !byName.has(each.provider))
      .map((each) => `models: ${each.id} is of provider ${each.provider}, which is not among the providers`),
    ...(models.filter((each) => each.default).length > 1 ? ['models: more than one is the default'] : []),
  ];
  if (problems.length > 0) {
    throw new CatalogError(source, problems);
  }
  const chosen = Math.max(
    0,
    models.findIndex((each) => each.default),
  );
  return models.flatMap(({ upstream_id, features: declared, ...rest }, index) => {
    const owner = byName.get(rest.provider);
    const described: Model = { ...rest, features: { ...noFeatures, ...declared }, default: index === chosen };
    return owner ? [{ model: described, upstreamId: upstream_id ?? rest.id, provider: owner }] : [];
  });
}

const repeated = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
];
