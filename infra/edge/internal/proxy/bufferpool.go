package proxy

import "sync"

// bufferPool holds the buffers that bodies are copied through: one for each response in progress.
type bufferPool struct{ pool sync.Pool }

const copyBuffer = 32 << 10

func newBufferPool() *bufferPool {
	return &bufferPool{sync.Pool{New: func() any { return new([copyBuffer]byte) }}}
}

func (b *bufferPool) Get() []byte { return b.pool.Get().(*[copyBuffer]byte)[:] }

func (b *bufferPool) Put(p []byte) { b.pool.Put((*[copyBuffer]byte)(p)) }
