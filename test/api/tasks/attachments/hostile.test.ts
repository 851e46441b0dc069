import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../../../platform/testing/eventually';
import { adminKey, type ApiUnderTest, startTestApi } from '../../api-under-test';
import { rawRequest } from '../../http/raw-request';
import { deflatedPdf } from './bombs';
import { docx, gif, pdf, send, type Sent, zipped } from './forms';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const listed = async (id: string) => (await board.call('GET', `/api/tasks/${id}/attachments`)).body;
const uploads = () => readdir(join(board.dataDir, 'uploads'));
const mebibyte = 1_048_576;

describe('a file is refused', () => {
  const bomb = zipped({
    '[Content_Types].xml': Buffer.alloc(64 * mebibyte, ' '),
    'word/document.xml': Buffer.alloc(64 * mebibyte, ' '),
  });

  it.each<[string, Sent, RegExp]>([
    ['that is a program with another name', { name: 'a.pdf', content: 'MZ\0\0' }, /not of the type of .pdf/],
    ['that is a picture with the name of a program', { name: 'a.exe', content: gif }, /type/],
    ['that is a picture with the name of text', { name: 'a.txt', content: gif }, /not UTF-8 text/],
    ['that has no extension', { name: 'a', content: 'text' }, /type/],
    ['with the name of something inherited', { name: 'a.constructor', content: 'text' }, /type/],
    ['that is a script', { name: 'a.txt', content: '#!/bin/sh\nrm -rf /' }, /script/],
    ['that is a script behind a mark', { name: 'a.md', content: '\uFEFF#!/bin/sh' }, /script/],
    ['that has NUL in its text', { name: 'a.csv', content: 'a\0b' }, /not UTF-8 text/],
    ['that is text in another encoding', { name: 'a.txt', content: Buffer.from('grün', 'latin1') }, /not UTF-8 text/],
    ['that is broken JSON', { name: 'a.json', content: '{"a":' }, /not JSON/],
    ['that is JSON nested very deeply', { name: 'a.json', content: '['.repeat(1_000_000) }, /not JSON/],
    ['that is an archive', { name: 'a.docx', content: zipped({ 'run.sh': 'rm' }) }, /not of the type of .docx/],
    ['that is an archive by its name', { name: 'a.zip', content: zipped({ 'a.txt': 'a' }) }, /type/],
    ['that is wasm', { name: 'a.wasm', content: '\0asm' }, /type/],
    ['that is empty', { name: 'a.txt', content: '' }, /empty/],
    ['that is larger than its type may be', { name: 'a.svg', content: 'x'.repeat(mebibyte + 1) }, /at most 1048576/],
    ['that is larger than any may be', { name: 'a.csv', content: 'x'.repeat(10 * mebibyte + 1) }, /at most 10485760/],
    ['that unpacks to very much', { name: 'a.docx', content: bomb }, /not of the type|inspected|exceeds/],
  ])('%s', async (_case, file, error) => {
    const { id } = await board.createTask();
    const { status, body } = await send(board, id, [file]);
    expect([status, body.details?.rejected]).toEqual([
      400,
      [{ filename: file.name, error: expect.stringMatching(error) }],
    ]);
    expect(await listed(id)).toEqual([]);
  });
});

describe('a file that is two things', () => {
  it('has the type of its name and its first bytes', async () => {
    const { id } = await board.createTask();
    const script = '<script>alert(1)</script>';
    const { body } = await send(board, id, [
      { name: 'a.gif', content: Buffer.concat([gif, Buffer.from(script)]), type: 'text/html' },
      { name: 'b.pdf', content: Buffer.concat([pdf('x'), zipped({ 'a.class': 'x' })]) },
      { name: 'c.txt', content: `%PDF-1.7 ${script}` },
    ]);
    expect(body.attachments.map(({ mimeType }: { mimeType: string }) => mimeType)).toEqual([
      'image/gif',
      'application/pdf',
      'text/plain',
    ]);
  });

  it.each([
    ['unpacks to very much', { 'word/document.xml': Buffer.alloc(64 * mebibyte, ' ') }],
    ['has broken XML', { 'word/document.xml': '<w:document>' }],
    ['has XML with entities of its own', { 'word/document.xml': '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>' }],
  ])('has no text when it %s', async (_case, parts) => {
    const { id } = await board.createTask();
    const whole = docx('text');
    const types = { '[Content_Types].xml': await contentTypes(whole) };
    const { status, body } = await send(board, id, [{ name: 'a.docx', content: zipped({ ...types, ...parts }) }]);
    const problem = parts['word/document.xml'] instanceof Buffer ? 'limit' : 'unreadable';
    expect([status, body.attachments?.[0]]).toEqual([
      201,
      expect.objectContaining({ hasText: false, textProblem: problem }),
    ]);
  });

  it('has no text when it is a kilobyte that unpacks to half a gigabyte, and costs the service no memory', async () => {
    const { id } = await board.createTask();
    const before = process.memoryUsage().rss;
    let grown = 0;
    const watch = setInterval(() => (grown = Math.max(grown, process.memoryUsage().rss - before)), 10);
    const { status, body } = await send(board, id, [{ name: 'a.pdf', content: deflatedPdf(512) }]);
    clearInterval(watch);
    const [sent] = body.attachments;
    expect([status, sent]).toEqual([201, expect.objectContaining({ hasText: false, textProblem: 'limit' })]);
    expect(grown).toBeLessThan(150 * mebibyte);
    expect((await board.call('GET', `/api/tasks/${id}/attachments/${sent.id}/text`)).body).toEqual({
      attachmentId: sent.id,
      text: null,
      hasText: false,
      problem: expect.stringContaining('The text could not be extracted: limit.'),
    });
  });

  async function contentTypes(document: Buffer): Promise<Uint8Array> {
    const { unzipSync } = await import('fflate');
    return unzipSync(document)['[Content_Types].xml']!;
  }
});

it.each([
  ['that leads elsewhere', '../../etc/passwd.txt', 'passwd.txt'],
  ['that leads elsewhere on Windows', '..\\..\\boot.txt', 'boot.txt'],
  ['that reads backwards', 'a\u202Egnp.txt', 'agnp.txt'],
  ['with a tag', '<img src=x>.txt', '_img src=x_.txt'],
  ['that is hidden', '.txt', 'txt'],
  ['of 5,000 characters', `${'x'.repeat(5_000)}.txt`, `${'x'.repeat(196)}.txt`],
])('takes a name %s for nothing but a name', async (_case, name, cleaned) => {
  const { id } = await board.createTask();
  const { body } = await send(board, id, [{ name, content: 'text' }]);
  const names = [...(body.attachments ?? []), ...(body.details?.rejected ?? [])].map(
    (file: { originalName?: string; filename: string }) => file.originalName ?? file.filename,
  );
  expect(names).toEqual([cleaned]);
});

describe('a form is refused', () => {
  const files = (count: number): Sent[] =>
    Array.from({ length: count }, (_, number) => ({ name: `${number}.txt`, content: 'a' }));
  const post = async (type: string, body: string) => {
    const { id } = await board.createTask();
    const headers = { 'X-API-Key': adminKey, 'Content-Type': type };
    const reply = await rawRequest(board.url, { method: 'POST', path: `/api/tasks/${id}/attachments`, headers, body });
    return { status: reply.status, body: JSON.parse(reply.text) };
  };
  const form = (part: string) => `--x\r\nContent-Disposition: form-data; ${part}\r\n--x--\r\n`;

  it('with 21 files', async () => {
    const { id } = await board.createTask();
    const { status, body } = await send(board, id, files(21));
    expect([status, body.details.issues]).toEqual([400, [expect.objectContaining({ path: 'files' })]]);
  });

  it('with files under another name', async () => {
    const { id } = await board.createTask();
    const { status, body } = await send(board, id, [{ name: 'a.txt', content: 'a', field: 'file' }]);
    expect(status).toBe(400);
    expect(body.details.issues).toContainEqual(expect.objectContaining({ path: 'file' }));
  });

  it.each([
    ['without a file', 'name="files"\r\n\r\ntext', 'files.0'],
    ['with a field besides', 'name="note"\r\n\r\ntext', 'note'],
    ['with a field for the prototype', 'name="__proto__"\r\n\r\ntext', '__proto__'],
  ])('%s', async (_case, part, path) => {
    const { status, body } = await post('multipart/form-data; boundary=x', form(part));
    expect(status).toBe(400);
    expect(body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it.each([
    ['of another type', 'application/json', '{"files":[{"path":"/etc/passwd"}]}', 415],
    ['without a boundary', 'multipart/form-data', form('name="files"; filename="a.txt"\r\n\r\na'), 400],
    ['that is cut off', 'multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="files"', 400],
    [
      'cut off in a file',
      'multipart/form-data; boundary=x',
      form('name="files"; filename="a.txt"\r\n\r\na').slice(0, -9),
      400,
    ],
    ['that is no form', 'multipart/form-data; boundary=x', 'hello', 400],
  ])('%s', async (_case, type, body, status) => {
    expect((await post(type, body)).status).toBe(status);
    expect(await uploads()).toEqual([]);
  });

  it.each(['', `; boundary=${'x'.repeat(253)}`])('with the boundary %j', async (boundary) => {
    const { status, body } = await post(`multipart/form-data${boundary}`, form('name="files"; filename="a.txt"'));
    expect(status).toBe(400);
    expect(body.error).toBe('The form cannot be read: its Content-Type needs a boundary of at most 252 bytes.');
  });

  it('of which the whole is too large, announced or not', async () => {
    const { id } = await board.createTask();
    const path = `/api/tasks/${id}/attachments`;
    const headers = { 'X-API-Key': adminKey, 'Content-Type': 'multipart/form-data; boundary=x' };
    const announced = { ...headers, 'Content-Length': String(52 * mebibyte) };
    const refused = await rawRequest(board.url, { method: 'POST', path, headers: announced, body: '--x' });
    expect(refused.status).toBe(413);
    const file = '--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n';
    const body = Buffer.concat([Buffer.from(file), Buffer.alloc(52 * mebibyte, 'a')]);
    const chunked = { ...headers, 'Transfer-Encoding': 'chunked' };
    const streamed = await rawRequest(board.url, { method: 'POST', path, headers: chunked, body });
    expect(streamed.status).toBe(413);
    expect(await uploads()).toEqual([]);
  });
});

it('leaves nothing behind when the caller goes away in the middle', async () => {
  const { id } = await board.createTask();
  const { port, hostname } = new URL(board.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /api/tasks/${id}/attachments HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${adminKey}\r\n` +
      'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n' +
      `--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n${'a'.repeat(100_000)}`,
  );
  await eventually(async () => expect(await uploads()).toHaveLength(1));
  socket.destroy();
  await eventually(async () => expect(await uploads()).toEqual([]));
  expect(await listed(id)).toEqual([]);
});

it('lets uploads that come at once have no more than one task may have', async () => {
  const { id } = await board.createTask();
  const files = (prefix: string): Sent[] =>
    Array.from({ length: 12 }, (_, number) => ({ name: `${prefix}${number}.txt`, content: `${prefix}${number}` }));
  const replies = await Promise.all([send(board, id, files('a')), send(board, id, files('b'))]);
  expect(replies.map(({ status }) => status)).toEqual([201, 201]);
  expect(replies.flatMap(({ body }) => body.attachments)).toHaveLength(20);
  expect(replies.flatMap(({ body }) => body.rejected)).toHaveLength(4);
  expect(await listed(id)).toHaveLength(20);
  const full = await send(board, id, [{ name: 'more.txt', content: 'more' }]);
  expect([full.status, full.body.details.rejected]).toEqual([
    400,
    [{ filename: 'more.txt', error: expect.stringContaining('20') }],
  ]);
});
