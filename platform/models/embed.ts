import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embedMany } from 'ai';
import { compact } from '../json/compact';
import { hideOwnSecrets } from '../log/own-secrets';
import { createRedactor } from '../log/redact';
import { type Catalog, CatalogError } from './catalog';
import { ModelError } from './errors';
import { modelErrorOf } from './failure';
import { fetchWithoutRedirects } from './provider';

/** The longest vector that is taken; what is longer would not fit in memory with many others. */
const maxDimensions = 4_096;

/** A model that gives texts a position, near to which are texts about the same. */
export interface Embedder {
  /** Its id in the catalog: vectors of different models cannot be compared. */
  readonly model: string;
  /**
   * One vector of length 1 for each text, all of the same dimension.
   *
   * @throws ModelError
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

interface EmbedderOptions {
  catalog: Catalog;
  /** Id or alias. */
  name: string;
  /** Whether a process may have the variable with the key. */
  mayRead: (variable: string) => boolean;
  keyOf: (variable: string) => string | undefined;
}

/** The embedding model of a catalog. @throws CatalogError when it has none of that name, or one that is no such model */
export function createEmbedder({ catalog, name, mayRead, keyOf }: EmbedderOptions): Embedder {
  const entry = catalog.find(({ model: { id, aliases } }) => id === name || aliases.includes(name));
  if (!entry) {
    throw new CatalogError('embedding model', [`models: there is no ${name}`]);
  }
  const { provider, upstreamId, model } = entry;
  if (provider.kind !== 'openai-compatible' && provider.kind !== 'openai') {
    throw new CatalogError('embedding model', [`${name}: a provider of the kind ${provider.kind} embeds no texts`]);
  }
  const { api_key_env: variable, base_url: baseURL, timeout_secs: seconds } = provider;
  if (variable !== undefined && !mayRead(variable)) {
    throw new CatalogError('embedding model', [
      `${name}: the API reads the key of an embedding model only from a variable such as EMBEDDING_API_KEY or OPENAI_EMBEDDING_KEY, and not from ${variable}`,
    ]);
  }

  return {
    model: model.id,
    async embed(texts, signal) {
      const key = variable === undefined ? undefined : keyOf(variable);
      if (variable !== undefined && !key) {
        throw new ModelError(
          'refused',
          `${provider.name}: the environment variable ${variable} with its key is not set`,
        );
      }
      hideOwnSecrets([key]);
      const timeout = AbortSignal.timeout(seconds * 1_000);
      const language = createOpenAICompatible({
        ...{ baseURL, name: provider.name, fetch: fetchWithoutRedirects },
        ...compact({ apiKey: key }),
      });
      try {
        const { embeddings } = await embedMany({
          model: language.embeddingModel(upstreamId),
          values: [...texts],
          maxRetries: 0,
          maxParallelCalls: 1,
          abortSignal: AbortSignal.any([signal, timeout]),
        });
        return unitVectors(embeddings, texts.length);
      } catch (error) {
        if (signal.aborted) {
          throw new ModelError('aborted', 'The call was cancelled.');
        }
        if (timeout.aborted) {
          throw new ModelError('timeout', `timeout (${seconds}s)`);
        }
        throw modelErrorOf(error, provider.name, createRedactor(key === undefined ? [] : [key]));
      }
    },
  };
}

/** @throws ModelError for what cannot be compared */
function unitVectors(vectors: readonly (readonly number[])[], count: number): Float32Array[] {
  const dimensions = vectors[0]?.length ?? 0;
  if (vectors.length !== count || vectors.some(({ length }) => length !== dimensions)) {
    throw new ModelError('unavailable', 'The response has another number of vectors, or vectors of several lengths.');
  }
  if (dimensions === 0 || dimensions > maxDimensions) {
    throw new ModelError(
      'unsupported',
      `Vectors of ${dimensions} numbers are not supported: ${maxDimensions} at most.`,
    );
  }
  return vectors.map((vector) => {
    const length = Math.hypot(...vector);
    if (!Number.isFinite(length)) {
      throw new ModelError('unavailable', 'The response has vectors that are not made of numbers.');
    }
    return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length));
  });
}
