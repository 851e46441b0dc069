import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { makeTempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');
const lint = async (script = 'scripts/lint/openapi.mjs') => {
  const linter = spawn(process.execPath, [script], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
  const stderr = text(linter.stderr);
  const [code] = (await once(linter, 'close')) as [number];
  return { code, stderr: await stderr };
};

describe('lint of the OpenAPI document', () => {
  it('passes the document in the repository', async () => {
    expect(await lint()).toEqual({ code: 0, stderr: '' });
  });

  it('names what is wrong with another', async () => {
    const directory = await makeTempDir('lint-openapi');
    try {
      const document = JSON.parse(await readFile(join(root, 'clients', 'typescript', 'openapi.json'), 'utf8'));
      document.servers = [];
      delete document.paths['/api/tasks/{taskId}'].get.parameters[0].description;
      document.paths['/api/tasks'].post.requestBody.content['application/json'].example = { name: 'no title' };
      const script = join(directory.path, 'lint.mjs');
      const source = JSON.stringify(JSON.stringify(document));
      const imported = JSON.stringify(join(root, 'scripts', 'lint', 'openapi.mjs'));
      await writeFile(
        script,
        `import { openApiProblems } from ${imported};
        const problems = await openApiProblems(${source});
        console.error(problems.join('\\n'));
        process.exitCode = problems.length;`,
      );
      const { stderr } = await lint(script);
      expect(stderr).toContain('no-empty-servers');
      expect(stderr).toContain('parameter-description at #/paths/~1api~1tasks~1{taskId}/get/parameters/0');
      expect(stderr).toMatch(/no-invalid-media-type-examples at #\/paths\/~1api~1tasks\/post/);
    } finally {
      await directory.remove();
    }
  });
});
