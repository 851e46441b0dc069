import fc from 'fast-check';
import { readManifest } from './manifest';

const manifest = (...lines: string[]): string => ['---', ...lines, '---', '# Body'].join('\n');

describe('front matter of a skill', () => {
  it('declares capabilities by their ids and by the tools of agents', () => {
    expect(
      readManifest(
        manifest(
          'name: PDF tools',
          'description: Reads PDFs',
          'capabilities: [network.egress, fly]',
          'allowed-tools: Read, Bash(git:*)',
        ),
      ),
    ).toEqual({
      state: 'read',
      name: 'PDF tools',
      description: 'Reads PDFs',
      declared: ['filesystem.read', 'shell.execute', 'network.egress'],
      unknown: ['fly'],
    });
  });

  it('declares none with an empty list, and nothing without one', () => {
    expect(readManifest(manifest('name: a', 'capabilities: []')).declared).toEqual([]);
    expect(readManifest(manifest('name: a')).declared).toBeUndefined();
  });

  it.each([
    ['aliases that expand', manifest('a: &a [x,x,x]', 'b: &b [*a,*a,*a]', 'c: [*b,*b]')],
    ['a prototype', manifest('__proto__:', '  declared: [shell.execute]')],
    ['a tag', manifest('name: !!js/function "x"')],
    ['a field twice', manifest('name: a', 'name: b')],
    ['levels', manifest(`a: ${'['.repeat(5_000)}`)],
    ['no end', `---\n${'a: 1\n'.repeat(10_000)}`],
    ['no fields', manifest('- a')],
  ])('is invalid with %s', (_case, text) => {
    expect(readManifest(text)).toMatchObject({ state: 'invalid', unknown: [] });
    expect(({} as { declared?: unknown }).declared).toBeUndefined();
  });

  it('does not take what objects inherit for a declaration', () => {
    for (const name of ['constructor', 'toString', 'valueOf', 'hasOwnProperty']) {
      expect(readManifest(manifest(`${name}: 1`, `capabilities: [${name}]`))).toMatchObject({
        declared: [],
        unknown: [name],
      });
    }
  });

  it('never throws, and answers within its bounds', () => {
    const line = fc.oneof(
      fc.string({ maxLength: 80 }),
      fc.constantFrom(
        'capabilities:',
        '  - network.egress',
        'name: &a x',
        'b: *a',
        '? [a]',
        ': b',
        '--- ',
        '...',
        '!!set {a}',
      ),
      fc.string({
        unit: fc.constantFrom('[', ']', '{', '}', ':', '-', '&', '*', '!', '|', '>', '%', ' ', '\t', '\n', 'a'),
      }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), fc.boolean(), (lines, ended) => {
        const read = readManifest(['---', ...lines, ...(ended ? ['---'] : [])].join('\n'));
        expect(['read', 'missing', 'invalid']).toContain(read.state);
        expect(read.unknown.length).toBeLessThanOrEqual(100);
        expect(read.name?.length ?? 0).toBeLessThanOrEqual(200);
      }),
      { numRuns: 500 },
    );
  });
});
