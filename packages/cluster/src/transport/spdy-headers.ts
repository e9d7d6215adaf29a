import { constants, createInflate, type Inflate } from "node:zlib";

/** Names and values, in lower case names. */
export type SpdyHeaders = ReadonlyMap<string, string>;

const WORDS =
  "options,head,post,put,delete,trace,accept,accept-charset,accept-encoding,accept-language,accept-ranges,age,allow," +
  "authorization,cache-control,connection,content-base,content-encoding,content-language,content-length," +
  "content-location,content-md5,content-range,content-type,date,etag,expect,expires,from,host,if-match," +
  "if-modified-since,if-none-match,if-range,if-unmodified-since,last-modified,location,max-forwards,pragma," +
  "proxy-authenticate,proxy-authorization,range,referer,retry-after,server,te,trailer,transfer-encoding,upgrade," +
  "user-agent,vary,via,warning,www-authenticate,method,get,status,200 OK,version,HTTP/1.1,url,public,set-cookie," +
  "keep-alive,origin";
const CODES =
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505" +
  "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden" +
  "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable";
const VALUES =
  "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT" +
  "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript," +
  "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

/** The text that both sides of SPDY/3 have seen before their first header: words with their lengths, then plain text. */
export function spdyDictionary(): Buffer {
  const words = WORDS.split(",").map((word) => Buffer.concat([uint32(word.length), Buffer.from(word)]));
  return Buffer.concat([...words, Buffer.from(CODES + VALUES)]);
}

/** One direction's headers, unpacked. All blocks of a connection are one compressed stream: none may be left out. */
export class HeaderReader {
  readonly #inflate: Inflate = createInflate({ dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH });
  #unpacked: Buffer[] = [];

  constructor() {
    this.#inflate.on("data", (chunk: Buffer) => this.#unpacked.push(chunk));
  }

  /** One block after the other: the next may be read when this one has been. */
  async read(block: Uint8Array): Promise<SpdyHeaders> {
    await new Promise<void>((resolve, reject) => {
      this.#inflate.once("error", reject);
      // Called when all that comes out of the block has been handed over.
      this.#inflate.write(block, () => {
        this.#inflate.off("error", reject);
        resolve();
      });
    });
    const bytes = Buffer.concat(this.#unpacked);
    this.#unpacked = [];
    return parseHeaders(bytes);
  }

  close(): void {
    this.#inflate.close();
  }
}

/** An empty stored block: what tells a reader that it can hand on all that it has. */
const FLUSH = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);

/**
 * The other direction, packed without compressing: blocks of a zlib stream may be stored as they are, and ours are a few
 * bytes long. That way no frame has to wait for the one before it.
 */
export class HeaderWriter {
  #begun = false;

  write(headers: SpdyHeaders): Buffer {
    const parts = [uint32(headers.size)];
    for (const [name, value] of headers) {
      for (const text of [name, value]) parts.push(uint32(Buffer.byteLength(text)), Buffer.from(text));
    }
    const plain = Buffer.concat(parts);
    const header = this.#begun ? Buffer.alloc(0) : Buffer.from([0x78, 0x01]);
    this.#begun = true;
    const block = Buffer.alloc(5);
    block.writeUInt16LE(plain.length, 1);
    block.writeUInt16LE(plain.length ^ 0xffff, 3);
    return Buffer.concat([header, block, plain, FLUSH]);
  }
}

function parseHeaders(bytes: Buffer): SpdyHeaders {
  const headers = new Map<string, string>();
  let at = 4;
  const text = () => {
    const length = bytes.readUInt32BE(at);
    const found = bytes.toString("utf8", at + 4, at + 4 + length);
    at += 4 + length;
    return found;
  };
  for (let left = bytes.readUInt32BE(0); left > 0; left--) headers.set(text().toLowerCase(), text());
  return headers;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
