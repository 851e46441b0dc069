/** One message of an event stream as a client reads it. */
export interface StreamEvent {
  event: string | undefined;
  id: number | undefined;
  data: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into events of every shape
}

const field = (frame: string, name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1];

function parse(frame: string): StreamEvent {
  const id = field(frame, 'id');
  return {
    event: field(frame, 'event'),
    id: id === undefined ? undefined : Number(id),
    data: JSON.parse(field(frame, 'data') ?? 'null'),
  };
}

/** The events of a stream as they come. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const frames = `${rest}${chunk}`.split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      yield parse(frame);
    }
  }
}

/** Reads until the stream ends, or until an event is the last that is wanted; then the reader leaves. */
export async function readEvents(
  response: Response,
  until: (event: StreamEvent) => boolean = () => false,
): Promise<StreamEvent[]> {
  const read: StreamEvent[] = [];
  for await (const event of eventsOf(response)) {
    read.push(event);
    if (until(event)) {
      break;
    }
  }
  return read;
}
