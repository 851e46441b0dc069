const mebibyte = 1_048_576;

/** A kind of file that may be attached. */
export interface FileType {
  mimeType: string;
  /** Most bytes of one. */
  maxBytes: number;
  /** How it is recognised: by its first bytes, or by being text with this extension. */
  known: 'by-magic' | 'by-extension';
  /** What the bytes are, where that is less than what the file is: old office files are all one container. */
  magic?: string;
}

const text = (mimeType: string, megabytes: number): FileType => ({
  mimeType,
  maxBytes: megabytes * mebibyte,
  known: 'by-extension',
});

const binary = (mimeType: string, megabytes = 10, magic = mimeType): FileType => ({
  mimeType,
  maxBytes: megabytes * mebibyte,
  known: 'by-magic',
  magic,
});

const oldOffice = (mimeType: string): FileType => binary(mimeType, 10, 'application/x-cfb');
const office = (kind: string): FileType => binary(`application/vnd.openxmlformats-officedocument.${kind}`);

const plain = text('text/plain', 5);
const markdown = text('text/markdown', 5);
const html = text('text/html', 5);
const yaml = text('application/yaml', 5);
const jpeg = binary('image/jpeg');

/** What may be attached, by extension. Whatever is not here is refused: programs, scripts, archives. */
const byExtension: Readonly<Record<string, FileType>> = {
  txt: plain,
  log: plain,
  md: markdown,
  markdown,
  html,
  htm: html,
  csv: text('text/csv', 10),
  json: text('application/json', 5),
  xml: text('application/xml', 5),
  yaml,
  yml: yaml,
  svg: text('image/svg+xml', 1),
  jpg: jpeg,
  jpeg,
  png: binary('image/png'),
  gif: binary('image/gif', 5),
  webp: binary('image/webp'),
  pdf: binary('application/pdf'),
  doc: oldOffice('application/msword'),
  xls: oldOffice('application/vnd.ms-excel'),
  ppt: oldOffice('application/vnd.ms-powerpoint'),
  docx: office('wordprocessingml.document'),
  xlsx: office('spreadsheetml.sheet'),
  pptx: office('presentationml.presentation'),
};

/** The type that files with this extension must have; `undefined` for those that may not be attached. */
export const fileTypeOf = (extension: string): FileType | undefined =>
  Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
