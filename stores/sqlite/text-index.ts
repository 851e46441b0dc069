import {
  assertGroup,
  assertTerms,
  maxCandidates,
  type TextEntry,
  type TextIndex,
  type TextMatch,
  type TextQuery,
  type TextTerm,
} from '../port/text/text-index';
import type { Connection } from './connection';
import { identifier, type SchemaObject } from './schema';
import type { Writer } from './writer';

/** Words in more documents than this say little about any, and ranking by them would read them all. */
const commonFrom = 10_000;
const countsFor = { ms: 30_000, words: 5_000 };
/** A match in the title counts this many times one in the text. */
const titleWeight = 4;

/**
 * The statements that make a text index: FTS5 without its texts, over words that are prepared and joined by spaces, which is what
 * the tokenizer `ascii` splits at; every other character of a word is part of it.
 */
export function textIndexSchema(name: string): SchemaObject[] {
  const ids = `${name}.ids`;
  const words = `${name}.words`;
  return [
    {
      name: ids,
      sql: `CREATE TABLE IF NOT EXISTS ${identifier(ids)} (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)`,
    },
    {
      name: words,
      sql: `CREATE VIRTUAL TABLE IF NOT EXISTS ${identifier(words)} USING fts5(
      scope, title, body, content='', contentless_delete=1, tokenize='ascii')`,
    },
  ];
}

/** The word that stands for a group in the column `scope`. */
const scopeWord = (group: string): string => group.replaceAll('-', '');

const phrase = ({ word, isPrefix }: TextTerm): string => `"${word}"${isPrefix === true ? '*' : ''}`;

type Row = [row: number, score: number];

/** A text index in FTS5. Words are never FTS5's syntax: each is a quoted string of letters and digits. */
export class SqliteTextIndex implements TextIndex {
  private readonly sql: Record<
    'rowOf' | 'newRow' | 'forget' | 'idOf' | 'clear' | 'write' | 'ranked' | 'newest' | 'count',
    string
  >;
  private counts = new Map<string, number>();
  private countedAt = 0;

  constructor(
    name: string,
    private readonly connection: Connection,
    private readonly writer: Writer,
  ) {
    const ids = identifier(`${name}.ids`);
    const words = identifier(`${name}.words`);
    this.sql = {
      rowOf: `SELECT row FROM ${ids} WHERE id = ?`,
      newRow: `INSERT INTO ${ids} (id) VALUES (?)`,
      forget: `DELETE FROM ${ids} WHERE id = ?`,
      idOf: `SELECT id FROM ${ids} WHERE row = ?`,
      clear: `DELETE FROM ${words} WHERE rowid = ?`,
      write: `INSERT INTO ${words} (rowid, scope, title, body) VALUES (?, ?, ?, ?)`,
      ranked: `SELECT rowid, score FROM (SELECT rowid, bm25(${words}, 0, ${titleWeight}, 1) AS score FROM ${words}
        WHERE ${words} MATCH ? LIMIT ${maxCandidates}) ORDER BY score, rowid LIMIT ?`,
      newest: `SELECT rowid, 0 FROM ${words} WHERE ${words} MATCH ? ORDER BY rowid DESC LIMIT ?`,
      count: `SELECT count(*) FROM (SELECT 1 FROM ${words} WHERE ${words} MATCH ? LIMIT ${commonFrom + 1})`,
    };
  }

  async put({ id, group, title, body }: TextEntry): Promise<void> {
    assertGroup(group);
    const [titleText, bodyText] = [title.join(' '), body.join(' ')];
    await this.writer.submit(
      () => {
        this.removeNow(id);
        // A new row each time: among equals, what was changed last comes first.
        this.connection.run(this.sql.newRow, id);
        const row = this.connection.row<[number]>(this.sql.rowOf, id)?.[0] ?? 0;
        this.connection.run(this.sql.write, row, scopeWord(group), titleText, bodyText);
      },
      { atomic: true },
    );
  }

  async remove(id: string): Promise<void> {
    await this.writer.submit(() => this.removeNow(id), { atomic: true });
  }

  async match(query: TextQuery): Promise<TextMatch[]> {
    assertTerms(query.terms);
    query.groups.forEach(assertGroup);
    if (query.groups.length === 0) {
      return [];
    }
    return this.writer.read(() =>
      this.bestRows(query).flatMap(([row, score]) => {
        const id = this.connection.row<[string]>(this.sql.idOf, row)?.[0];
        return id === undefined ? [] : [{ id, score: Math.max(0, -score) }];
      }),
    );
  }

  private removeNow(id: string): void {
    const row = this.connection.row<[number]>(this.sql.rowOf, id)?.[0];
    if (row !== undefined) {
      this.connection.run(this.sql.clear, row);
      this.connection.run(this.sql.forget, id);
    }
  }

  private bestRows({ terms, needs, groups, limit }: TextQuery): Row[] {
    const scope = `scope : (${groups.map((group) => `"${scopeWord(group)}"`).join(' OR ')})`;
    const expression = (some: readonly TextTerm[], columns = '{title body}'): string =>
      `${scope} AND ${columns} : (${some.map(phrase).join(needs === 'all' ? ' AND ' : ' OR ')})`;
    const rare = terms.filter((term) => !this.isCommon(term));
    if (rare.length === terms.length || (needs === 'any' && rare.length > 0)) {
      return this.connection.rows<Row>(this.sql.ranked, expression(rare), limit);
    }
    if (rare.length === 0) {
      return this.newestRows([expression(terms, 'title'), expression(terms)], limit);
    }
    const matching = new Set(
      this.connection.rows<Row>(this.sql.newest, expression(terms), maxCandidates).map(([row]) => row),
    );
    const ranked = this.connection.rows<Row>(this.sql.ranked, expression(rare), maxCandidates);
    const best = ranked.filter(([row]) => matching.delete(row));
    return [...best, ...[...matching].map((row): Row => [row, 0])].slice(0, limit);
  }

  /** Rows that match, those of the first expression first, each once. */
  private newestRows(expressions: string[], limit: number): Row[] {
    const rows = new Map<number, Row>();
    for (const expression of expressions) {
      for (const row of this.connection.rows<Row>(this.sql.newest, expression, limit)) {
        if (rows.size < limit && !rows.has(row[0])) {
          rows.set(row[0], row);
        }
      }
    }
    return [...rows.values()];
  }

  private isCommon({ word }: TextTerm): boolean {
    const now = performance.now();
    if (now - this.countedAt > countsFor.ms || this.counts.size >= countsFor.words) {
      this.counts = new Map();
      this.countedAt = now;
    }
    let count = this.counts.get(word);
    if (count === undefined) {
      count = this.connection.row<[number]>(this.sql.count, `"${word}"`)?.[0] ?? 0;
      this.counts.set(word, count);
    }
    return count > commonFrom;
  }
}
