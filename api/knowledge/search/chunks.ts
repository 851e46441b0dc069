import { cut } from '../../../platform/text/cut';
import type { SearchDocument } from './source';

/** Characters of a part, which models embed well, and parts of one document. */
const limits = { characters: 1_500, parts: 20 };

/** The parts of a document that get a vector each, split where words end; what is beyond the last part is found by its words only. */
export function chunksOf({ text }: Pick<SearchDocument, 'text'>): string[] {
  const chunks: string[] = [];
  let rest = text.trim();
  while (rest !== '' && chunks.length < limits.parts) {
    let part = cut(rest, limits.characters);
    if (part.length < rest.length) {
      const end = Math.max(part.lastIndexOf('\n'), part.lastIndexOf(' '));
      part = end > limits.characters / 2 ? part.slice(0, end) : part;
    }
    chunks.push(part.trim());
    rest = rest.slice(part.length).trimStart();
  }
  return chunks.length > 0 ? chunks : [''];
}
