import type { TrackerSettings } from '../tracker';
import { documentOf, textOfDocument } from './document';
import { textOfWiki, wikiTextOf } from './wiki-text';

/** What Jira Cloud and Jira Data Center say differently about the same things. */
export interface JiraEdition {
  deployment: NonNullable<TrackerSettings['deployment']>;
  /** Where its REST API is, below the address of the site. */
  root: string;
  authorization: string;
  /** The fields of the items in pages of types, and of fields. */
  pages: { types: string; fields: string };
  /** The field that identifies an account. */
  accountField: 'accountId' | 'name';
  toText: (text: string) => unknown;
  ofText: (sent: unknown) => string;
}

/** Version 3 of the REST API, with an API token and its account; texts are documents. */
const cloud = ({ account, token }: TrackerSettings): JiraEdition => ({
  deployment: 'cloud',
  root: 'rest/api/3',
  authorization: `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`,
  pages: { types: 'issueTypes', fields: 'fields' },
  accountField: 'accountId',
  toText: documentOf,
  ofText: textOfDocument,
});

/** Version 2 of the REST API, with a personal access token; texts are wiki markup, and accounts have names. */
const dataCenter = ({ token }: TrackerSettings): JiraEdition => ({
  deployment: 'data-center',
  root: 'rest/api/2',
  authorization: `Bearer ${token}`,
  pages: { types: 'values', fields: 'values' },
  accountField: 'name',
  toText: wikiTextOf,
  ofText: textOfWiki,
});

export const editionOf = (settings: TrackerSettings): JiraEdition =>
  settings.deployment === 'data-center' ? dataCenter(settings) : cloud(settings);
