import { adminKey, agentKey, type ApiUnderTest, readKey, startTestApi } from '../../api-under-test';
import { docx, gif, pdf, png, send, type Sent, zipped } from './forms';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/attachments${rest}`;
const download = (taskId: string, id: string, headers: Record<string, string> = {}) =>
  fetch(`${board.url}${url(taskId, `/${id}/download`)}`, { headers: { 'X-API-Key': adminKey, ...headers } });
const attach = async (file: Sent) => {
  const { id: taskId } = await board.createTask();
  const { body, status } = await send(board, taskId, [file]);
  expect(status).toBe(201);
  return { taskId, attachment: body.attachments[0] };
};

it('keeps files and answers what they are, with the task', async () => {
  const { id } = await board.createTask();
  const files = [
    { name: 'notes.md', content: '# Notes', type: 'application/x-msdownload' },
    { name: 'dot.gif', content: gif, type: 'text/html' },
  ];
  const { status, body, headers } = await send(board, id, files, { key: agentKey });
  expect(status).toBe(201);
  const [notes, dot] = body.attachments;
  expect(notes).toMatchObject({
    id: expect.stringMatching(/^att_[0-9a-f]{12}$/),
    filename: `${notes.id}.md`,
    originalName: 'notes.md',
    mimeType: 'text/markdown',
    size: 7,
    hasText: true,
    uploadedBy: 'agent:worker',
    validationStatus: 'valid',
    retentionStatus: 'active',
  });
  expect(dot).toMatchObject({ originalName: 'dot.gif', mimeType: 'image/gif', size: gif.length, hasText: false });
  expect(body.rejected).toEqual([]);
  expect(body.task).toMatchObject({ id, revision: 2, attachments: [notes, dot] });
  expect(headers.get('ETag')).toBe(`"task:${id}:2"`);

  expect((await board.call('GET', url(id))).body).toEqual([notes, dot]);
  expect((await board.call('GET', url(id, `/${dot.id}`))).body).toEqual(dot);
  expect(Buffer.from(await (await download(id, dot.id)).arrayBuffer()).equals(gif)).toBe(true);
});

it('names the files that failed and keeps the others', async () => {
  const { id } = await board.createTask();
  const { status, body } = await send(board, id, [
    { name: 'run.exe', content: 'MZ' },
    { name: 'good.txt', content: 'fine' },
    { name: 'photo.png', content: gif },
  ]);
  expect(status).toBe(201);
  expect(body.attachments.map(({ originalName }: { originalName: string }) => originalName)).toEqual(['good.txt']);
  expect(body.rejected).toEqual([
    { filename: 'run.exe', error: expect.stringContaining('may not be attached') },
    { filename: 'photo.png', error: expect.stringContaining('it is image/gif') },
  ]);
});

it('refuses an upload of which nothing can be kept', async () => {
  const { id } = await board.createTask();
  const { status, body } = await send(board, id, [{ name: 'app.js', content: 'alert(1)' }]);
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: { rejected: [{ filename: 'app.js' }] } });
  expect((await board.call('GET', `/api/tasks/${id}`)).body.revision).toBe(1);
});

describe('the text of a file', () => {
  const textOf = async (file: Sent) => {
    const { taskId, attachment } = await attach(file);
    const { body } = await board.call('GET', url(taskId, `/${attachment.id}/text`));
    expect(body).toMatchObject({ attachmentId: attachment.id, hasText: attachment.hasText });
    return body.text as string | null;
  };
  const sheet =
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml" PartName="/xl/workbook.xml';
  const slides =
    'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml" PartName="/ppt/presentation.xml';
  const types = (type: string) => `<?xml version="1.0"?><Types><Override ContentType="${type}"/></Types>`;

  it.each<[string, Sent, string | null]>([
    ['text', { name: 'a.txt', content: '\uFEFFgrün' }, 'grün'],
    ['JSON', { name: 'a.json', content: '{"a":1}' }, '{"a":1}'],
    ['Word', { name: 'a.docx', content: docx('one &amp; two', 'three') }, 'one & two\nthree\n\n'],
    [
      'Excel',
      {
        name: 'a.xlsx',
        content: zipped({
          '[Content_Types].xml': types(sheet),
          'xl/sharedStrings.xml': '<sst><si><t>cell</t></si><si><t>other</t></si></sst>',
        }),
      },
      'cell\nother\n\n',
    ],
    [
      'PowerPoint',
      {
        name: 'a.pptx',
        content: zipped({
          '[Content_Types].xml': types(slides),
          'ppt/slides/slide10.xml': '<s xmlns:a="urn:a"><a:p><a:t>last</a:t></a:p></s>',
          'ppt/slides/slide2.xml': '<s xmlns:a="urn:a"><a:p><a:t>first</a:t></a:p></s>',
        }),
      },
      'first\n\nlast\n\n',
    ],
    ['PDF', { name: 'a.pdf', content: pdf('Hello from PDF') }, 'Hello from PDF\n'],
    ['a picture', { name: 'a.png', content: png }, null],
    ['a PDF that is broken', { name: 'a.pdf', content: '%PDF-1.7 and no more' }, null],
    ['nothing but spaces', { name: 'a.txt', content: ' \n ' }, null],
  ])('is read from %s', async (_case, file, text) => {
    expect(await textOf(file)).toBe(text);
  });

  it('is cut at 200,000 characters', async () => {
    expect((await textOf({ name: 'long.txt', content: 'x'.repeat(300_000) }))?.length).toBe(200_000);
  });
});

describe('a download', () => {
  it('is saved under the name of the file, and runs nowhere', async () => {
    const name = 'Übersicht "x".svg';
    const { taskId, attachment } = await attach({ name, content: '<svg onload="alert(1)"/>' });
    const { headers } = await download(taskId, attachment.id);
    expect(headers.get('Content-Type')).toBe('image/svg+xml');
    expect(headers.get('Content-Disposition')).toMatch(/^attachment; filename=".+"; filename\*=UTF-8''%C3%9Cbersicht/);
    expect(headers.get('Content-Security-Policy')).toContain('sandbox');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  });

  it('may be of a range, and of what has changed only', async () => {
    const { taskId, attachment } = await attach({ name: 'a.txt', content: '0123456789' });
    const whole = await download(taskId, attachment.id);
    const tag = whole.headers.get('ETag') ?? '';
    expect(tag).toBe(`"${attachment.sha256}"`);
    expect((await download(taskId, attachment.id, { 'If-None-Match': tag })).status).toBe(304);

    const part = await download(taskId, attachment.id, { Range: 'bytes=2-4', 'If-Range': tag });
    expect([part.status, await part.text(), part.headers.get('Content-Range')]).toEqual([206, '234', 'bytes 2-4/10']);
    const other = await download(taskId, attachment.id, { Range: 'bytes=2-4', 'If-Range': '"other"' });
    expect([other.status, await other.text()]).toEqual([200, '0123456789']);
    const behind = await download(taskId, attachment.id, { Range: 'bytes=10-' });
    expect([behind.status, behind.headers.get('Content-Range')]).toEqual([416, 'bytes */10']);
  });
});

it('deletes one attachment and keeps the content of another with the same', async () => {
  const { id } = await board.createTask();
  const { body } = await send(board, id, [
    { name: 'a.txt', content: 'same' },
    { name: 'b.txt', content: 'same' },
  ]);
  const [first, second] = body.attachments;
  expect(first.sha256).toBe(second.sha256);
  const gone = await board.call('DELETE', url(id, `/${first.id}`));
  expect(gone.body.attachments).toEqual([second]);
  expect(await board.call('GET', url(id, `/${first.id}`))).toMatchObject({ status: 404 });
  expect(await board.call('DELETE', url(id, `/${first.id}`))).toMatchObject({ status: 404 });
  expect(await (await download(id, second.id)).text()).toBe('same');
});

it('reports when the content of an attachment is gone', async () => {
  const { id } = await board.createTask();
  const record = {
    id: 'att_byhand',
    filename: 'att_byhand.txt',
    originalName: 'a.txt',
    mimeType: 'text/plain',
    size: 1,
  };
  await board.api.context.board.update(id, () => ({ attachments: [{ ...record, hasText: false }] }), { actor: 'hand' });
  expect(await board.call('GET', url(id, '/att_byhand/download'))).toMatchObject({
    status: 410,
    body: { code: 'ATTACHMENT_CONTENT_GONE' },
  });
});

it('changes the task the caller has seen, or none', async () => {
  const { id } = await board.createTask();
  const file = { name: 'a.txt', content: 'a' };
  const headers = { 'If-Match': `"task:${id}:1"` };
  const replies = await Promise.all([send(board, id, [file], { headers }), send(board, id, [file], { headers })]);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
  const [attached] = (await board.call('GET', url(id))).body;
  expect(await board.call('DELETE', url(id, `/${attached.id}`), { headers })).toMatchObject({ status: 409 });
  expect((await board.call('GET', url(id))).body).toHaveLength(1);
});

it('needs a task and the permission to write', async () => {
  const { id } = await board.createTask();
  const file = { name: 'a.txt', content: 'a' };
  expect(await send(board, 'task_20260101_nobody', [file])).toMatchObject({ status: 404 });
  expect(await send(board, id, [file], { key: readKey })).toMatchObject({ status: 403 });
  expect(await send(board, id, [file], { key: null })).toMatchObject({ status: 401 });
  expect(await board.call('GET', url(id), { key: readKey })).toMatchObject({ status: 200, body: [] });
  expect(await board.call('GET', url(id, '/no-id'))).toMatchObject({ status: 400 });
});

it('is described as a form with files', async () => {
  const { paths, components } = (await board.call('GET', '/api/openapi.json')).body;
  const { content } = paths['/api/tasks/{taskId}/attachments'].post.requestBody;
  expect(content).toEqual({ 'multipart/form-data': { schema: { $ref: '#/components/schemas/AttachmentUpload' } } });
  expect(components.schemas.AttachmentUpload.properties.files.items).toEqual({ type: 'string', format: 'binary' });
});
