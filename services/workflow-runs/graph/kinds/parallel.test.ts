import { compileGraph } from '../compile';
import { GraphError } from '../graph-error';

/** What is wrong with a graph whose two branches have these edges. */
function problemsOf(first: string, second = '', defaults = ''): readonly string[] {
  const source = `digraph { ${defaults} start -> p; p [type=parallel]; j [type=join]; j -> exit
p -> x [${first}]; p -> y [${second}]; x -> j; y -> j }`;
  try {
    compileGraph(source);
    return [];
  } catch (error) {
    return error instanceof GraphError ? error.problems : [String(error)];
  }
}
const unused = (name: string) =>
  `${name} is not for edges of a parallel node, which are all taken; set it on an edge within the branch.`;

describe('edges of a parallel node', () => {
  it.each([
    ['a condition', 'condition="outcome=success"', 'condition'],
    ['a limit', 'max_traversals=1', 'max_traversals'],
  ])('are refused with %s, which no branch is begun by', (_case, attribute, name) => {
    expect(problemsOf('', attribute)).toEqual([`Edge p -> y (line 2, column 12): ${unused(name)}`]);
  });

  it('are refused with what a default has set', () => {
    expect(problemsOf('', '', 'edge [max_traversals=2];')).toEqual([
      `Edge p -> x (line 2, column 1): ${unused('max_traversals')}`,
      `Edge p -> y (line 2, column 12): ${unused('max_traversals')}`,
    ]);
  });

  it('may have what is drawn', () => {
    expect(problemsOf('label="one", weight=2', 'color=red')).toEqual([]);
  });
});
