import { z } from 'zod';
import { ForgeError } from '../../forges/forge-error';
import { createForgeFetch, parsed } from '../../forges/forge-fetch';
import { maxListed, type TrackerSettings } from '../tracker';
import type { JiraEdition } from './edition';

type Query = Record<string, string | number | undefined>;

/** The calls of Jira's REST API that are made here. Responses are unknown until they are parsed. */
export interface JiraClient {
  get(path: string, query?: Query): Promise<unknown>;
  post(path: string, body: object): Promise<unknown>;
  /** A whole list that is counted from `startAt`, within `maxListed`. `name`: the field of the items, if they are in one. */
  all(path: string, name?: string, query?: Query): Promise<unknown[]>;
}

const pageSize = 100;
const counts = z.looseObject({ total: z.number().optional(), isLast: z.boolean().optional() });

/** What a response has that is needed of it. @throws ForgeError for one that is not as documented */
export const parsedOfJira = <T extends z.ZodType>(shape: T, data: unknown): z.output<T> =>
  parsed(shape, data, 'tracker');

/**
 * A client of the few calls that are needed. Clients that are published need a newer Node or bring an HTTP client of their own,
 * which would not go through the filter of addresses.
 */
export function createJiraClient(
  { baseUrl, allowPrivate, timeoutMs }: TrackerSettings,
  { root, authorization }: JiraEdition,
): JiraClient {
  const send = createForgeFetch({
    baseUrl,
    allowPrivate,
    service: 'tracker',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const headers = {
    accept: 'application/json',
    authorization,
    'user-agent': 'runboard',
  };

  async function call(path: string, { query = {}, body }: { query?: Query; body?: object } = {}): Promise<unknown> {
    const url = new URL(`${baseUrl.replace(/\/+$/, '')}/${root}/${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) {
        url.searchParams.set(name, String(value));
      }
    }
    const response = await send(
      url,
      body === undefined
        ? { headers }
        : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) },
    );
    const text = await response.text();
    try {
      return text === '' ? null : (JSON.parse(text) as unknown);
    } catch {
      throw new ForgeError('unavailable', 'The tracker sent what is no JSON.');
    }
  }

  return {
    get: (path, query) => call(path, query === undefined ? {} : { query }),
    post: (path, body) => call(path, { body }),

    async all(path, name, query = {}) {
      const items: unknown[] = [];
      while (items.length < maxListed) {
        const sent = await call(path, { query: { ...query, startAt: items.length, maxResults: pageSize } });
        const list = name === undefined ? sent : parsedOfJira(z.looseObject({}), sent)[name];
        const page = parsedOfJira(z.array(z.unknown()), list);
        items.push(...page);
        const { total, isLast } = name === undefined ? {} : parsedOfJira(counts, sent);
        // A list without a count is at its end with a page that is not full.
        const isEnd = isLast ?? (total === undefined ? page.length < pageSize : items.length >= total);
        if (isEnd || page.length === 0) {
          break;
        }
      }
      return items.slice(0, maxListed);
    },
  };
}
