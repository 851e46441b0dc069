import { zipSync } from 'fflate';
import { officeText } from './office';

const document = (xml: string | Uint8Array): Buffer =>
  Buffer.from(zipSync({ 'word/document.xml': typeof xml === 'string' ? new TextEncoder().encode(xml) : xml }));

describe('office document text', () => {
  it('reads what is in text elements, and nothing else', () => {
    const xml = '<d xmlns:w="urn:w"><w:p><w:t>one</w:t><w:del>gone</w:del><w:t> two</w:t></w:p><w:p/></d>';
    expect(officeText(document(xml), 'docx', 100)).toBe('one two\n\n\n');
  });

  it('ends with a document that states more than is read', () => {
    expect(() => officeText(document(Buffer.alloc(40 * 1_048_576)), 'docx', 100)).toThrow(/limit of extracted/);
  });

  it('ends with one that states less than it has', () => {
    const bytes = document(`<d>${' '.repeat(1_000_000)}</d>`);
    // The size in the directory at the end, which is what unpacking goes by.
    const directory = bytes.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'));
    bytes.writeUInt32LE(10, directory + 24);
    expect(() => officeText(bytes, 'docx', 100)).toThrow();
  });

  it('stops when it has enough', () => {
    const files = Array.from({ length: 50 }, (_, number) => [
      `ppt/slides/slide${number}.xml`,
      new TextEncoder().encode('<s xmlns:a="urn:a"><a:t>0123456789</a:t></s>'),
    ]);
    const text = officeText(Buffer.from(zipSync(Object.fromEntries(files))), 'pptx', 30);
    expect(text.length).toBeLessThan(60);
  });
});
