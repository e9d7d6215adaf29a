export { BytePipe, type ByteSink, type ByteSource, connectionPair, type PodConnection, readText } from "./bytes.ts";
