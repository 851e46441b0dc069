import { createRedactor } from '../log/redact';
import { callModel } from './call';
import type { Catalog, CatalogEntry, ReachedProvider } from './catalog';
import { ModelError } from './errors';
import { modelErrorOf } from './failure';
import type { Model } from './model';
import { languageModelOf, providerOptionsOf } from './provider';
import { type AnswerListener, type ModelAnswer, type ModelRequest, modelRequest } from './request';

export interface ModelsOptions {
  catalog: Catalog;
  /** The key of a provider by the name of its environment variable, read again with every call. */
  keyOf: (name: string) => string | undefined;
  /** No model is called. */
  dryRun: boolean;
}

export interface CallOptions extends AnswerListener {
  signal?: AbortSignal | undefined;
  /** Instead of the provider's own limit, in milliseconds. */
  timeoutMs?: number;
}

/** The models of this service, and the one way to call them. */
export interface Models {
  list(): readonly Model[];
  find(idOrAlias: string): Model | undefined;
  /** The model of requests that name none. */
  default(): Model;
  /** Whether calling it is only pretended. */
  isDry(model: Model): boolean;
  /**
   * Which model a request is for.
   *
   * @throws ModelError `unknown` when there is none, or `unsupported` when it lacks a capability of the request
   */
  choose(request: Pick<ModelRequest, 'model' | 'provider'> & Partial<ModelRequest>): Model;
  /**
   * Asks a model once. In a dry run the answer is a fixed text without a cost.
   *
   * @throws ModelError of every kind; `retryable` states whether the same call may bring an answer later
   */
  complete(request: ModelRequest, options?: CallOptions): Promise<ModelAnswer>;
}

/** The answer of every model in a dry run. */
export const dryRunText = 'This is a dry run: no model was called.';

export function createModels({ catalog, keyOf, dryRun }: ModelsOptions): Models {
  const byName = new Map(
    catalog.flatMap((entry) => [entry.model.id, ...entry.model.aliases].map((name) => [name, entry])),
  );
  const usual = catalog.find(({ model }) => model.default) ?? catalog[0];
  if (!usual) {
    throw new Error('A catalog must have at least one model.');
  }

  function entryOf({ model, provider, ...asked }: Parameters<Models['choose']>[0]): CatalogEntry {
    const entry = model === undefined ? defaultOf(provider) : byName.get(model);
    if (!entry || (provider !== undefined && entry.model.provider !== provider)) {
      throw new ModelError('unknown', `Model not found: ${model ?? `any of ${provider ?? 'the catalog'}`}`);
    }
    assertAble(entry.model, asked);
    return entry;
  }

  const defaultOf = (provider: string | undefined): CatalogEntry | undefined =>
    provider === undefined || usual.model.provider === provider
      ? usual
      : catalog.find(({ model }) => model.provider === provider);

  const isDry = ({ provider }: CatalogEntry): boolean => dryRun || provider.kind === 'dry-run';

  return {
    list: () => catalog.map(({ model }) => model),
    find: (name) => byName.get(name)?.model,
    default: () => usual.model,
    isDry: ({ id }) => {
      const entry = byName.get(id);
      return entry !== undefined && isDry(entry);
    },
    choose: (request) => entryOf(request).model,
    async complete(asked, { signal, timeoutMs, ...listener } = {}) {
      const request = modelRequest.parse(asked);
      const { model, upstreamId, provider } = entryOf(request);
      if (dryRun || provider.kind === 'dry-run') {
        listener.onText?.(dryRunText);
        return dryAnswer(model);
      }
      const key = keyOfProvider(provider);
      const limitMs = timeoutMs ?? provider.timeout_secs * 1_000;
      const timeout = AbortSignal.timeout(limitMs);
      try {
        return await callModel(
          {
            model,
            language: languageModelOf(provider, upstreamId, key),
            request,
            mostTokens: provider.kind === 'anthropic' ? model.limits.max_output : undefined,
            providerOptions: providerOptionsOf(provider, request),
            signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
          },
          listener,
        );
      } catch (error) {
        if (signal?.aborted) {
          throw new ModelError('aborted', 'The call was cancelled.');
        }
        if (timeout.aborted) {
          throw new ModelError('timeout', `timeout (${limitMs / 1_000}s)`);
        }
        throw modelErrorOf(error, provider.name, createRedactor(key === undefined ? [] : [key]));
      }
    },
  };

  function keyOfProvider({ name, api_key_env: variable }: ReachedProvider): string | undefined {
    if (variable === undefined) {
      return undefined;
    }
    const key = keyOf(variable);
    if (!key) {
      throw new ModelError('refused', `${name}: the environment variable ${variable} with its key is not set`);
    }
    return key;
  }
}

const dryAnswer = ({ id }: Model): ModelAnswer => ({
  text: dryRunText,
  thinking: [],
  toolCalls: [],
  stopReason: 'end_turn',
  usage: { input_tokens: 0, output_tokens: 0, cost: 0 },
  model: id,
});

/** A request for what a model cannot do by the catalog is refused before its provider is asked. */
function assertAble({ id, features }: Model, { messages = [], tools = [] }: Partial<ModelRequest>): void {
  const shown = messages.some(({ content }) => content.some(({ kind }) => kind === 'image'));
  if (shown && !features.vision) {
    throw new ModelError('unsupported', `${id} does not support images.`);
  }
  if (tools.length > 0 && !features.tools) {
    throw new ModelError('unsupported', `${id} does not support tools.`);
  }
}
