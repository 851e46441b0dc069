import { compileGraph } from '../compile';
import { GraphError } from '../graph-error';

const problemsOf = (attributes: string, defaults = ''): readonly string[] => {
  try {
    compileGraph(`digraph { ${defaults} start -> a -> exit; a [${attributes}] }`);
    return [];
  } catch (error) {
    return error instanceof GraphError ? error.problems : [String(error)];
  }
};

describe('attributes of a node', () => {
  it.each([
    ['type=decision, timeout="5m"', 'timeout means nothing to a node with type=decision'],
    ['type=wait, duration="1s", timeout="5m"', 'timeout means nothing to a node with type=wait'],
    ['prompt="Hi", duration="5m"', 'duration means nothing to a node with type=prompt'],
    ['prompt="Hi", options="a, b"', 'options means nothing to a node with type=prompt'],
    ['type=webhook, question="Ready?"', 'question means nothing to a node with type=webhook'],
    ['shape=hexagon, prompt="Hi"', 'prompt means nothing to a node with type=human'],
    ['type=command, command="ls", model="m"', 'model means nothing to a node with type=command'],
    ['shape=diamond, system="Be brief."', 'system means nothing to a node with type=decision'],
    ['type=webhook, max_retries=3', 'max_retries means nothing to a node with type=webhook'],
    ['type=wait, duration="1s", retry_delay="1s"', 'retry_delay means nothing to a node with type=wait'],
    ['shape=hexagon, allow_freeform=yes', 'allow_freeform must be true or false'],
  ])('are refused at a type that does not read them: %s', (attributes, problem) => {
    expect(problemsOf(attributes)).toEqual([expect.stringContaining(`Node "a" (line 1, column 32): ${problem}.`)]);
  });

  it('may come from a default', () => {
    expect(problemsOf('shape=diamond', 'node [timeout="5m"]; ')).toEqual([]);
    expect(problemsOf('shape=hexagon, question="Ready?", timeout="5m"', 'node [duration="1s"]; ')).toEqual([]);
  });
});
