import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import type { ForgeSettings } from '../forge';
import { maxItems, pageSize } from '../forge';
import { ForgeError } from '../forge-error';
import { createForgeFetch } from '../forge-fetch';

type Parameters = Record<string, string | number | boolean | readonly string[] | undefined>;

/** The calls of the official client that are made here. Responses are unknown until they are parsed. */
export interface GithubClient {
  call(route: string, parameters?: Parameters): Promise<unknown>;
  graphql(query: string, variables: Parameters): Promise<unknown>;
  /** The pages of a list, as the forge links them. */
  pages(route: string, parameters?: Parameters): AsyncIterable<unknown[]>;
  /** The whole list, within `maxItems`. */
  all(route: string, parameters?: Parameters): Promise<unknown[]>;
}

const PagingOctokit = Octokit.plugin(paginateRest);

/** What the library wraps our errors in is taken off. */
async function unwrapped<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (error instanceof ForgeError || cause instanceof ForgeError) {
      throw error instanceof ForgeError ? error : cause;
    }
    throw new ForgeError('unavailable', error instanceof Error ? error.message : String(error));
  }
}

const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  // Its messages name addresses with what was sent to them.
}

/** The client of one repository; its routes take `{owner}` and `{repo}` from the settings. */
export function createGithubClient(settings: ForgeSettings): GithubClient {
  const [owner = '', repo = ''] = settings.repository.split('/');
  const octokit = new PagingOctokit({
    auth: settings.token,
    baseUrl: settings.baseUrl.replace(/\/+$/, ''),
    userAgent: 'runboard',
    log: silent,
    request: { fetch: createForgeFetch(settings), log: silent },
  });
  const here = (parameters: Parameters = {}) => ({ owner, repo, ...parameters });

  async function* pages(route: string, parameters?: Parameters): AsyncGenerator<unknown[]> {
    const list = octokit.paginate.iterator(route, here({ per_page: pageSize, ...parameters }));
    const iterator = list[Symbol.asyncIterator]();
    for (;;) {
      const step = await unwrapped(() => iterator.next());
      if (step.done) {
        return;
      }
      const items: unknown = step.value.data;
      if (!Array.isArray(items)) {
        throw new ForgeError('unavailable', 'The forge sent what is no list.');
      }
      yield items;
    }
  }

  return {
    call: async (route, parameters) => {
      const { data } = (await unwrapped(() => octokit.request(route, here(parameters)))) as { data: unknown };
      return data;
    },
    graphql: (query, variables) => unwrapped(() => octokit.graphql(query, variables)),
    pages,
    async all(route, parameters) {
      const found: unknown[] = [];
      for await (const page of pages(route, parameters)) {
        found.push(...page);
        if (found.length >= maxItems) {
          break;
        }
      }
      return found.slice(0, maxItems);
    },
  };
}
