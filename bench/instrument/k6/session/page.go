package session

import (
	"context"
	"sync"
	"time"
)

// LoadPage loads the document and then its subresources, some of them at a time. It ends with the last byte, or with the
// first failure, which stops the rest.
func (s *Session) LoadPage(page Page) error {
	if err := page.check(); err != nil {
		return err
	}
	began := time.Now()
	if err := s.fetch(s.ctx, page.Document, toDocument); err != nil {
		return err
	}
	if err := s.fetchAll(page.Subresources); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = append(s.pages, time.Since(began))
	return nil
}

func (s *Session) fetchAll(paths []string) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	queue := make(chan string, len(paths))
	for _, path := range paths {
		queue <- path
	}
	close(queue)

	var (
		workers sync.WaitGroup
		once    sync.Once
		first   error
	)
	for range min(s.config.Parallel, len(paths)) {
		workers.Go(func() {
			for path := range queue {
				err := s.fetch(ctx, path, toImage)
				if err != nil {
					once.Do(func() { first = err })
					cancel()
					return
				}
			}
		})
	}
	workers.Wait()
	return first
}
