import type { Collection as MongoCollection, Document, Filter } from 'mongodb';
import {
  assertGroup,
  assertTerms,
  type TextEntry,
  type TextIndex,
  type TextMatch,
  type TextQuery,
  type TextTerm,
} from '../port/text/text-index';
import { translated } from './errors';

/** Candidates are read and ranked here, so there are fewer than FTS5 ranks. */
const maxRanked = 1_000;
const maxDistinct = 5_000;
const maxMs = 5_000;
const titleWeight = 4;
/** Of BM25: how soon repetitions of a word stop to count, how much the length of a document does, and its usual length. */
const ranking = { saturation: 1.2, length: 0.75, usualLength: 200 };

export interface TextDocument extends Document {
  _id: string;
  group: string;
  /** Each word once; the index over them has an entry for each. */
  words: string[];
  /** How often each of them occurs. */
  counts: number[];
  length: number;
}

/** Escaped although words are letters and digits, so that this is right for any of them. */
const literal = (word: string): string => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const having = ({ word, isPrefix }: TextTerm): Filter<TextDocument> => ({
  words: isPrefix === true ? { $regex: `^${literal(word)}` } : word,
});

function distinct({ title, body }: TextEntry): Pick<TextDocument, 'words' | 'counts' | 'length'> {
  const counts = new Map<string, number>();
  const add = (word: string, weight: number): void => {
    if (counts.has(word) || counts.size < maxDistinct) {
      counts.set(word, (counts.get(word) ?? 0) + weight);
    }
  };
  title.forEach((word) => add(word, titleWeight));
  body.forEach((word) => add(word, 1));
  return { words: [...counts.keys()], counts: [...counts.values()], length: title.length + body.length };
}

/** How often the document has the word, or words that begin so. */
function frequency({ words, counts }: TextDocument, { word, isPrefix }: TextTerm): number {
  return words.reduce((sum, own, index) => {
    const matches = isPrefix === true ? own.startsWith(word) : own === word;
    return matches ? sum + (counts[index] ?? 0) : sum;
  }, 0);
}

/** An inverted index: one index of MongoDB over every word of every document (docs/develop/decisions/search-index.md). */
export class MongoTextIndex implements TextIndex {
  constructor(
    private readonly documents: MongoCollection<TextDocument>,
    private readonly name: string,
  ) {}

  async prepare(): Promise<void> {
    await translated(this.name, () => this.documents.createIndex({ words: 1 }, {}, {}));
  }

  async put(entry: TextEntry): Promise<void> {
    assertGroup(entry.group);
    const document = { group: entry.group, ...distinct(entry) };
    await translated(this.name, () => this.documents.replaceOne({ _id: entry.id }, document, { upsert: true }));
  }

  async remove(id: string): Promise<void> {
    await translated(this.name, () => this.documents.deleteOne({ _id: id }));
  }

  async match({ terms, needs, groups, limit }: TextQuery): Promise<TextMatch[]> {
    assertTerms(terms);
    groups.forEach(assertGroup);
    const conditions = terms.map(having);
    const filter = {
      group: { $in: [...groups] },
      [needs === 'all' ? '$and' : '$or']: conditions,
    } as Filter<TextDocument>;
    return translated(this.name, async () => {
      const found = await this.documents.find(filter, { limit: maxRanked, maxTimeMS: maxMs }).toArray();
      const total = Math.max(found.length, await this.documents.estimatedDocumentCount());
      const ofAll = await Promise.all(conditions.map((one) => this.countOf(one)));
      const rarity = ofAll.map((count) => Math.log(1 + (total - count + 0.5) / (count + 0.5)));
      return found
        .map((document) => ({ id: document._id, score: scoreOf(document, terms, rarity) }))
        .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    });
  }

  /** Bounded: of a word that many documents have it only matters that they are many. */
  private async countOf(condition: Filter<TextDocument>): Promise<number> {
    return this.documents.countDocuments(condition, { limit: 10 * maxRanked, maxTimeMS: maxMs });
  }
}

function scoreOf(document: TextDocument, terms: readonly TextTerm[], rarity: readonly number[]): number {
  const { saturation, length, usualLength } = ranking;
  const norm = saturation * (1 - length + (length * document.length) / usualLength);
  return terms.reduce((score, term, index) => {
    const often = frequency(document, term);
    return score + Math.max(0, rarity[index] ?? 0) * ((often * (saturation + 1)) / (often + norm));
  }, 0);
}
