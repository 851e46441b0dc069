import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a session needs to be gone on with by another process, in a file of its own. */
export class SessionFiles {
  constructor(directory = join(tmpdir(), 'example-acp-agent')) {
    this.directory = directory;
  }

  #path(sessionId) {
    if (!/^[0-9a-f-]{36}$/.test(sessionId)) {
      throw new Error('not a session id');
    }
    return join(this.directory, `${sessionId}.json`);
  }

  async save(sessionId, { prompts, archived = false }) {
    await mkdir(this.directory, { recursive: true });
    await writeFile(this.#path(sessionId), JSON.stringify({ prompts, archived }));
  }

  async load(sessionId) {
    try {
      return JSON.parse(await readFile(this.#path(sessionId), 'utf8'));
    } catch {
      return undefined;
    }
  }

  async list() {
    const names = await readdir(this.directory).catch(() => []);
    const found = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
    return Promise.all(
      found.map(async (sessionId) => ({
        sessionId,
        cwd: '/',
        archived: (await this.load(sessionId))?.archived ?? false,
      })),
    );
  }

  remove(sessionId) {
    return rm(this.#path(sessionId), { force: true });
  }
}
